import { expect, it } from 'vitest';
import { emitDescriptions } from './descriptions.ts';
import type { ServerDocument } from './normalise.ts';

it('keeps what a server says of kinds and fields, whatever characters that has', () => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: that is what must survive.
  const description = 'Has `ticks`, a \\ and a ${hole}.\nAnd "quotes".';
  const document = {
    info: { title: 'x', version: 'y' },
    paths: {},
    components: { schemas: { Kind: { description, properties: { b: { description: 'B' }, a: {} } } } },
  } as unknown as ServerDocument;
  const source = emitDescriptions('v1', [document, document]);
  const literal = source.slice(source.indexOf('`{\n'), source.lastIndexOf('`') + 1);
  // What is emitted is a template literal without holes.
  const text = String(new Function(`return ${literal}`)());
  expect(JSON.parse(text)).toEqual({ Kind: [description, { b: 'B' }] });
});
