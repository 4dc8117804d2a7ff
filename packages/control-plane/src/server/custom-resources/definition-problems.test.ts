import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { DEFINITIONS, startCustomServer } from './custom-server.test-support.ts';
import { BROKEN, definition, OWN_MESSAGES } from './definition-cases.test-support.ts';

interface Recorded {
  readonly what: string;
  readonly code: number;
  readonly problems: readonly string[];
}

// The real server's responses to the same definitions.
const recorded = JSON.parse(
  readFileSync(new URL('./testdata/definition-responses.json', import.meta.url), 'utf8'),
) as readonly Recorded[];

test.each(BROKEN.filter(({ what }) => !OWN_MESSAGES.has(what)))(
  'A definition with $what is validated as by the real server',
  async (broken) => {
    using server = await startCustomServer();
    const sent = JSON.parse(JSON.stringify(definition(broken)).replaceAll('GROUP', 'probe.example.test')) as object;
    const { status, body } = await server.call('POST', `${DEFINITIONS}?dryRun=All`, sent);
    const { causes = [] } = (body.details ?? {}) as { causes?: readonly { field: string; message: string }[] };
    const actual = {
      what: broken.what,
      code: status,
      problems: causes.map(({ field, message }) => `${field}: ${message}`),
    };
    expect(actual).toEqual(recorded.find(({ what }) => what === broken.what));
  },
);
