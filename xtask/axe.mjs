// Opens pages in a browser, in both colour schemes and at two widths, uses their filters, and has axe-core look at
// them: node xtask/axe.mjs BROWSER FILE... A serious issue, an error on the console, a dialog or a page that is wider
// than the window is printed, and the exit code is 1. Needs puppeteer-core and axe-core from
// npm beside it.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import puppeteer from "puppeteer-core";

const [executablePath, ...files] = process.argv.slice(2);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const browser = await puppeteer.launch({ executablePath, args: ["--no-sandbox"] });
const problems = [];

async function look(file, scheme, width) {
    const page = await browser.newPage();
    const found = (what) => problems.push(`${file}, ${scheme}, ${width} px: ${what}`);
    page.on("pageerror", (error) => found(error));
    page.on("dialog", (dialog) => (found(`dialog: ${dialog.message()}`), dialog.dismiss()));
    // The page's policy refuses what a target's bytes would load or run; that is told on the console.
    page.on("console", (message) => message.type() === "error" && found(message.text()));
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
    await page.setViewport({ width, height: 900 });
    await page.goto(`file://${resolve(file)}`);

    // Of several targets, the first is shown after a click on its name.
    if (await page.$(".board")) {
        await check(page, found);
        await page.click(".board a");
    }
    const section = "section.target:not([hidden]) ";
    await page.click(`${section}[data-action=expand]`);
    const shown = () => page.$eval(`${section}.shown`, (element) => element.textContent);
    const all = await shown();
    await page.type(`${section}[data-filter=search]`, "nocheckhasthisword");
    if (!(await shown()).startsWith("0 of ")) found(`the search shows ${await shown()}`);
    await page.click(`${section}[data-action=reset]`);
    await page.click(`${section}.chip`);
    if ((await shown()) === all) found("a verdict's button hides nothing");
    await page.click(`${section}.chip`);
    if ((await shown()) !== all) found(`after the filters it shows ${await shown()}, before ${all}`);
    await check(page, found);

    // A run is shown beside the report, and Escape returns to the link.
    const link = await page.$(`${section}details[open] .run-link`);
    if (link) {
        const focused = () => page.evaluate(() => document.activeElement.className);
        await link.click();
        if (!(await page.$("#panel[open]"))) found("no run is shown");
        await check(page, found);
        await page.keyboard.press("Escape");
        await page.waitForSelector("#panel:not([open])");
        if ((await focused()) !== "run-link") found(`after the run, the focus is on ${await focused()}`);
    }
    await page.close();
}

async function check(page, found) {
    const wider = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    if (wider > 0) found(`wider than the window by ${wider} px`);
    await page.evaluate(`${axe};0`);
    const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
    for (const { impact, id, nodes } of violations) {
        const told = `${impact} issue ${id}: ${nodes[0].html.slice(0, 200)}`;
        if (["serious", "critical"].includes(impact)) found(told);
        else console.log(`${page.url()}: ${told}`);
    }
}

for (const file of files)
    for (const scheme of ["light", "dark"])
        for (const width of [1280, 360]) await look(file, scheme, width);
await browser.close();
console.log(problems.length ? problems.join("\n") : `${files.length} pages, no problem`);
process.exitCode = problems.length ? 1 : 0;
