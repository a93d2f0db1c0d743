/**
 * The settings card in the web profile's own page, in Chromium: two languages, two themes, and what an edit saves.
 * With `--show` the pictures are kept, and it is said where.
 *
 * @module
 */
import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { join } from "@std/path";
import { missingChromium, openPage, type Page } from "../browser/page.ts";
import type { Host } from "./host.ts";
import { startModel } from "./model.ts";
import { createScene, hostTest, type Scene } from "./scene.ts";

const token = "a-secret-token-of-the-tests";

/** A web host that stays up, and its address. */
async function startWeb(scene: Scene): Promise<string> {
  const running = await scene.startDriven([{ do: "stay" }]);
  for (let tries = 0; tries < 400; tries++) {
    const url = running.stdout().match(/http:\/\/127\.0\.0\.1:\d+/)?.[0];
    if (url !== undefined) return url;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`the web host never said where it is: ${running.stdout()}`);
}

/** Clicks the first visible control whose words match, once there is one. */
async function click(page: Page, words: RegExp): Promise<void> {
  await page.until(
    `(() => {
      const controls = [...document.querySelectorAll('button, a, [role=tab], [role=menuitem]')];
      const found = controls.find((each) =>
        each.offsetParent && ${words}.test((each.textContent + ' ' + (each.getAttribute('aria-label') ?? '')).trim()));
      found?.click();
      return found !== undefined;
    })()`,
    `a control that says ${words}`,
  );
}

/** Walks from the first visit to the opened card. */
async function openCard(page: Page): Promise<void> {
  await click(page, /^(continue|继续)/i);
  await click(page, /^(settings|设置)/i);
  await click(page, /^(plugins|插件)/i);
  await page.until(
    `(() => {
      const card = document.querySelector('[data-assay-card]');
      if (card?.dataset.assayCard === 'closed') card.querySelector('[data-assay-toggle]').click();
      return card?.dataset.assayCard === 'open';
    })()`,
    "the card",
  );
}

/** Types into a field as a user does, so that the page's own code hears of it. */
const typeInto = (field: string, text: string): string =>
  `(() => {
    const input = document.querySelector('[data-assay-field="${field}"] [data-assay-input]');
    Object.getOwnPropertyDescriptor(Object.getPrototypeOf(input), 'value').set.call(input, ${
    JSON.stringify(text)
  });
    input.dispatchEvent(new Event('input', { bubbles: true }));
    return true;
  })()`;

const saveEnabled = `!document.querySelector('[data-assay-save]').disabled`;
const faultOf = (field: string): string =>
  `document.querySelector('[data-assay-field="${field}"] [data-assay-error]')?.textContent ?? ''`;

async function sceneOf(host: Host, model: { readonly url: string }): Promise<Scene> {
  return await createScene(host, {
    model,
    profile: "web",
    settings: `assay:\n  token: ${token}\n  gateMode: smart\n`,
  });
}

hostTest(
  "an edit in the settings card is saved, a wrong one is refused in words, and a reset is gone",
  async (host) => {
    await using model = startModel([{ text: "Done." }]);
    await using scene = await sceneOf(host, model);
    const settings = (): Promise<string> => Deno.readTextFile(join(scene.home, "settings.yaml"));
    await using page = await openPage(await startWeb(scene));
    await openCard(page);

    await page.evaluate(typeInto("gateThreshold", "7"));
    assertMatch(await page.until<string>(faultOf("gateThreshold"), "what is wrong"), /0[^]*1/);
    assertEquals(await page.evaluate(saveEnabled), false);

    await page.evaluate(typeInto("gateThreshold", "0.75"));
    await page.until(saveEnabled, "that it can be saved");
    await page.evaluate(`document.querySelector('[data-assay-save]').click()`);
    await page.until(
      `document.querySelector('[data-assay-status]')?.dataset.assayStatus === 'saved'`,
      "that it is saved",
    );
    assertMatch(await settings(), /gateThreshold: 0\.75/);
    assertMatch(await settings(), new RegExp(`token: ${token}`), "what wasn't edited is still there");

    await page.evaluate(
      `document.querySelector('[data-assay-field="gateThreshold"] [data-assay-reset]').click()`,
    );
    await page.until(saveEnabled, "that a reset can be saved");
    await page.evaluate(`document.querySelector('[data-assay-save]').click()`);
    for (let tries = 0; (await settings()).includes("gateThreshold"); tries++) {
      assert(tries < 200, `the reset never reached the file: ${await settings()}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }

    assertEquals(
      await page.evaluate(`document.querySelector('[data-assay-secret]').dataset.assaySecret`),
      "set",
    );
    const everything = await page.evaluate<string>(
      `document.documentElement.outerHTML + [...document.querySelectorAll('input, textarea')].map((each) => each.value)`,
    );
    assert(!everything.includes(token), "the page is never told the token");
    assertEquals(page.complaints, []);
  },
  missingChromium,
);

for (
  const [language, words] of [["en-US", "Judge the work when a turn ends"], [
    "zh-CN",
    "在回合结束时评审",
  ]] as const
) {
  hostTest(`the settings card speaks ${language} and has a light and a dark face`, async (host) => {
    await using model = startModel([{ text: "Done." }]);
    await using scene = await sceneOf(host, model);
    await using page = await openPage(await startWeb(scene), { language });
    await openCard(page);
    const text = await page.evaluate<string>(`document.querySelector('[data-assay-card]').innerText`);
    assert(text.includes(words), text);
    const pictures: Uint8Array[] = [];
    const colours: string[] = [];
    for (const scheme of ["light", "dark"] as const) {
      await page.prefer(scheme);
      await page.evaluate(
        `document.querySelector('[data-assay-card]').scrollIntoView();
         new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))`,
      );
      colours.push(
        await page.evaluate(`getComputedStyle(document.querySelector('[data-assay-card]')).backgroundColor`),
      );
      pictures.push(await page.screenshot());
    }
    assertNotEquals(colours[0], colours[1]);
    assertNotEquals(pictures[0], pictures[1]);
    assertEquals(page.complaints, []);
    if (Deno.args.includes("--show")) {
      const folder = await Deno.makeTempDir({ prefix: "assay-card-" });
      for (const [i, picture] of pictures.entries()) {
        await Deno.writeFile(join(folder, `${language}-${i === 0 ? "light" : "dark"}.png`), picture);
      }
      console.log(`pictures of the card: ${folder}`);
    }
  }, missingChromium);
}
