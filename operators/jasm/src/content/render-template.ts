import { BowlineError } from '@bowline/machinery';
import { cachedTemplate, parseTemplate } from '@bowline/machinery/template';
import { ContentProblem, quotedKey } from './content-problem.ts';
import { utf8Text } from './select-values.ts';

/**
 * The maximum number of steps for all keys of the template of a Secret: enough to render it, and well under a second.
 */
const MAX_STEPS = 500_000;

/**
 * renderTemplate renders the values of a template's keys from other values. It throws a ContentProblem. The error of an
 * expression is not repeated there, because such messages contain values.
 */
export function renderTemplate(
  template: Readonly<Record<string, string>>,
  values: ReadonlyMap<string, Uint8Array>,
): Map<string, Uint8Array> {
  const texts = new Map<string, string>();
  for (const [key, bytes] of values) {
    const text = utf8Text(bytes);
    if (text !== undefined) texts.set(key, text);
  }
  const data = Object.fromEntries(texts);
  const budget = { left: MAX_STEPS };
  return new Map(Object.entries(template).map(([key, text]) => [key, Buffer.from(rendered(key, text))]));

  function rendered(key: string, text: string): string {
    try {
      return cachedTemplate(text).render(data, budget);
    } catch (error) {
      if (!(error instanceof BowlineError)) throw error;
      throw problemOf(key, text);
    }
  }

  function problemOf(key: string, text: string): ContentProblem {
    const field = `template.${key}`;
    const missingKeys = namesIn(text).filter((name) => !texts.has(name));
    const bytes = missingKeys.find((name) => values.has(name));
    if (bytes !== undefined)
      return new ContentProblem(
        'SecretParseFailed',
        `${field}: the value of ${quotedKey(bytes)} is not UTF-8 text; remove it from the template`,
      );
    const [missing] = missingKeys;
    if (missing !== undefined)
      return new ContentProblem(
        'SecretKeyMissing',
        `${field}: the key ${quotedKey(missing)} does not exist; add it in the store, or guard it with has()`,
      );
    return new ContentProblem(
      'SecretParseFailed',
      `${field}: the expressions cannot be evaluated with the values of this secret, or need too many steps; check the types of the values, and guard optional keys with has()`,
    );
  }
}

/** namesIn returns the keys that a template names literally: `data.host`, `data["app.yaml"]`. */
function namesIn(text: string): readonly string[] {
  return parseTemplate(text).placeholders.flatMap((hole) =>
    Array.from(
      hole.matchAll(/\bdata\s*(?:\.\s*([A-Za-z_]\w*)|\[\s*(?:'([^'\\]*)'|"([^"\\]*)")\s*\])/g),
      ([, ...names]) => names.find((name) => name !== undefined) ?? '',
    ),
  );
}
