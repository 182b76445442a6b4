// The whole way by keyboard alone.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { hash, launch, open } from "./browser.mjs";

let browser;
before(async () => { browser = await launch(); });
after(() => browser?.close());

const focused = (page) => page.evaluate(() => document.activeElement.getAttribute("aria-label") || document.activeElement.textContent || document.activeElement.id);

// tabTo presses Tab until what matches has the focus.
async function tabTo(page, selector, most = 40) {
  for (let i = 0; i < most; i++) {
    await page.keyboard.press("Tab");
    if (await page.evaluate((s) => document.activeElement.matches(s), selector)) return;
  }
  assert.fail("Tab does not reach " + selector + " in " + most + " steps");
}

test("Tab reaches all parts of each view, once each", async () => {
  const { page, close } = await open(browser, "minilm");
  await page.keyboard.press("Tab");
  assert.equal(await focused(page), "Skip to the view");
  await tabTo(page, '#views a[href="#/graph"]');
  await page.keyboard.press("Enter");
  assert.equal(await hash(page), "#/graph");
  await tabTo(page, '[aria-label="stage trace"] .box');
  await tabTo(page, 'a.kernel'); // the graph is one stop, not hundreds
  await close();
});

test("arrows follow the data, Enter opens and chooses, Escape leaves", async () => {
  const { page, close } = await open(browser, "minilm", "/graph");
  await page.focus('[aria-label="stage trace"] .fold');
  await tabTo(page, '[aria-label="stage trace"] .box');
  const first = await focused(page);
  await page.keyboard.press("ArrowDown");
  assert.notEqual(await focused(page), first);
  await page.keyboard.press("Home");
  for (let i = 0; i < 60 && !/×6/.test(await focused(page)); i++) await page.keyboard.press("ArrowDown");
  assert.match(await focused(page), /×6/, "the way down leads to the repeated block");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-expanded")), "true");
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  assert.match(await hash(page), /^#\/graph\/trace\/\d+$/);
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-pressed")), "true");
  await page.keyboard.press("Escape");
  assert.equal(await hash(page), "#/graph");
  await close();
});

test("search, then kernel, then memory", async () => {
  const { page, close } = await open(browser, "minilm");
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement.id), "search");
  await page.keyboard.type("attention");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowUp");
  const option = await page.evaluate(() => document.getElementById(document.activeElement.getAttribute("aria-activedescendant")).textContent);
  assert.match(option, /^kernel.*attention/);
  await page.keyboard.press("Enter");
  assert.match(await hash(page), /^#\/kernels\/\d+$/);
  assert.match(await focused(page), /attention/, "the focus is on the kernel in the list");
  await page.keyboard.press("ArrowDown");
  const next = await focused(page);
  await page.keyboard.press("Enter");
  assert.equal(await focused(page), next, "the focus stays in the list");
  await page.keyboard.press("4");
  assert.equal(await hash(page), "#/memory");
  await tabTo(page, ".life");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  assert.match(await hash(page), /^#\/memory\/\d+$/);
  await page.keyboard.press("?");
  assert.ok(await page.locator("#keys").isVisible());
  await page.keyboard.press("Escape");
  assert.ok(await page.locator("#keys").isHidden());
  await close();
});

test("drawings grow and shrink by keys", async () => {
  const { page, close } = await open(browser, "minilm", "/graph");
  await page.focus('[aria-label="stage trace"] .box[tabindex="0"]');
  const width = () => page.locator('[aria-label="stage trace"] svg').evaluate((s) => s.getBoundingClientRect().width);
  const before = await width();
  await page.keyboard.press("+");
  assert.ok((await width()) > before);
  await page.keyboard.press("-");
  assert.ok(Math.abs((await width()) - before) < 1);
  await close();
});
