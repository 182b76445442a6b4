// Draws the pictures of docs/look-inside.md: node screenshots.mjs FOLDER

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { launch, open } from "./browser.mjs";

const folder = process.argv[2];
mkdirSync(folder, { recursive: true });

const browser = await launch();
const kernel = (name, nth = 0) => async (page) => {
  await page.locator(".kernel-row", { hasText: name }).nth(nth).click();
};
const shots = [
  { name: "overview", route: "/overview" },
  { name: "graph", route: "/graph", after: chooseOperation("attention") },
  { name: "kernel", route: "/kernels", after: kernel("attention") },
  { name: "memory", route: "/memory" },
  { name: "passes", route: "/passes/fma" },
  { name: "timeline", route: "/timeline" },
];

// chooseOperation chooses the first operation of a kind in the trace.
function chooseOperation(op) {
  return async (page) => {
    await page.evaluate((op) => {
      const doc = JSON.parse(document.getElementById("document").textContent);
      location.hash = "/graph/trace/" + doc.stages[0].nodes.findIndex((n) => doc.strings[n.o] === op);
    }, op);
    await page.waitForTimeout(200);
  };
}

for (const colorScheme of ["light", "dark"]) {
  const { page, close } = await open(browser, "minilm", "", { colorScheme, viewport: { width: 1280, height: 800 } });
  for (const s of shots) {
    await page.evaluate((r) => { location.hash = r; }, s.route);
    await page.waitForTimeout(200);
    await s.after?.(page);
    await page.evaluate(() => document.activeElement.blur());
    await page.waitForTimeout(400);
    await page.screenshot({ path: join(folder, s.name + "-" + colorScheme + ".png") });
  }
  await close();
}
const training = await open(browser, "training", "/memory", { colorScheme: "light", viewport: { width: 1280, height: 800 } });
await training.page.waitForTimeout(400);
await training.page.screenshot({ path: join(folder, "training-memory-light.png") });
await training.close();
const phone = await open(browser, "minilm", "/kernels", { colorScheme: "light", viewport: { width: 390, height: 780 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 });
await phone.page.waitForTimeout(400);
await phone.page.screenshot({ path: join(folder, "phone-light.png") });
await phone.close();
await browser.close();
