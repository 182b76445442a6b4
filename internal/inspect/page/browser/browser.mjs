// What the tests share: a browser, pages whose errors and requests are counted,
// and axe.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const folder = process.env.SINTER_PAGES;
if (!folder) throw new Error("SINTER_PAGES: no folder of pages; see run");

export const fileOf = (name) => join(folder, name + ".html");
export const addressOf = (name) => pathToFileURL(fileOf(name)).href;

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export function launch() {
  // The pages are our own, and root has no sandbox.
  return chromium.launch({ executablePath: process.env.SINTER_CHROMIUM, args: ["--no-sandbox"] });
}

// open shows a page of the folder, at a route. It fails, now or in close, if the
// page writes to the console, throws, or asks for anything but itself.
export async function open(browser, name, route = "", options = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, acceptDownloads: true, ...options });
  const page = await context.newPage();
  const faults = [];
  page.on("console", (m) => faults.push("console: " + m.text()));
  page.on("pageerror", (e) => faults.push("error: " + e.message));
  page.on("dialog", (d) => {
    faults.push("dialog: " + d.message());
    d.dismiss();
  });
  page.on("request", (r) => {
    if (!r.url().startsWith(addressOf(name)) && !r.url().startsWith("blob:")) faults.push("request: " + r.url());
  });
  await page.goto(addressOf(name) + (route ? "#" + route : ""));
  await ready(page);
  const close = async () => {
    await context.close();
    assert.deepEqual(faults, []);
  };
  return { page, close, faults };
}

export async function ready(page) {
  await page.waitForSelector("html[data-ready]", { state: "attached", timeout: 10000 });
}

// check runs axe over what is shown, or these rules of it, and fails with what it
// finds.
export async function check(page, what, ...rules) {
  await page.evaluate("if (!window.axe) {" + axe + "}");
  const found = await page.evaluate(async (rules) => {
    const { violations } = await window.axe.run(document, { resultTypes: ["violations"], ...(rules.length ? { runOnly: rules } : {}) });
    return violations.map((v) => v.id + ": " + v.help + "\n" + v.nodes.slice(0, 3).map((n) => "    " + n.target.join(" ") + " " + n.failureSummary.replace(/\s+/g, " ")).join("\n"));
  }, rules);
  assert.deepEqual(found, [], what);
}

// views are those that the page offers, by the ends of their routes.
export function views(page) {
  return page.$$eval("#views a", (tabs) => tabs.map((t) => t.getAttribute("href").slice(2)));
}

// hash is the address's, once what waited then has been done: the page is told of a new
// one by an event that can come behind what a test asks next.
export const hash = (page) => page.evaluate(() => new Promise((done) => setTimeout(() => done(location.hash))));
