import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { temporaryFiles } from '../testing/child-process.test-support.ts';
import { bowline } from '../testing/test-operators.test-support.ts';
import { readManifests } from './read-manifests.ts';

const hammer = `# A hammer.
kind: Tool
metadata: { name: hammer }
spec:
  sizes:
    - 1
    - 2
---
kind: Tool
metadata: { name: awl }
---
`;
const saws = JSON.stringify({ kind: 'List', items: [{ kind: 'Tool', metadata: { name: 'saw' }, spec: {} }] }, null, 2);

describe('a command with manifests', () => {
  it('gets the objects of all files and documents, and prints objects as YAML documents', async () => {
    await using files = await temporaryFiles();
    const paths = [await files.write('hammer.yaml', hammer), await files.write('saws.json', saws)];
    const { code, out, err } = await bowline(['toolbox', 'inventory', '-f', ...paths]);
    expect([code, err]).toEqual([0, 'PLACE           SIZE\nhammer.yaml:2   7\nhammer.yaml:9   9\nsaws.json:4     9\n']);
    expect(out).toBe(
      '---\nkind: Tool\nmetadata:\n  name: hammer\nspec:\n  sizes:\n    - 1\n    - 2\n---\nkind: Tool\nmetadata:\n  name: saw\nspec: {}\n',
    );
  });

  it('reads standard input, and prints a List or a table', async () => {
    const given = { stdin: () => Readable.from([Buffer.from(saws)]) };
    const { out, err } = await bowline(['toolbox', 'inventory', '--filename', '-', '-o', 'json'], given);
    expect(JSON.parse(out)).toMatchObject({ kind: 'List', items: [{ metadata: { name: 'saw' } }] });
    expect(err).toContain('standard input:4');
    const table = await bowline(['toolbox', 'inventory', '-f', '-', '-o', 'table'], given);
    expect(table.out).toBe('NAME\nsaw\n');
  });

  it('prints the data before the failure that it reports', async () => {
    await using files = await temporaryFiles();
    const path = await files.write('saws.json', saws);
    const { code, out, err } = await bowline(['toolbox', 'inventory', '-f', path, '-f', path, path]);
    expect([code, out.match(/name: saw/g)?.length]).toEqual([1, 3]);
    expect(err).toContain('too many objects');
  });

  it('requires a file, and limits the size of all of them', async () => {
    const missing = await bowline(['toolbox', 'inventory']);
    expect([missing.code, missing.err]).toEqual([2, expect.stringContaining('--filename is missing; pass files')]);
    await using files = await temporaryFiles();
    const path = await files.write('large.yaml', `kind: Tool\nspec: { text: ${'a'.repeat(600)} }\n`);
    const { code, err } = await bowline(['toolbox', 'inventory', '-f', path, '-f', path]);
    expect([code, err]).toEqual([2, expect.stringContaining('is too large: at most 1024 bytes are accepted')]);
  });

  it.each([
    ['no object', '# nothing\n', /there is no object in .*x\.yaml; pass files with manifests/],
    ['invalid YAML', 'kind: Tool\nspec: { a: 1\nmore: 2\n', /x\.yaml:\d+: .*; correct the YAML/],
    ['a field that is set twice', 'kind: Tool\nspec: {}\nspec: {}\n', /x\.yaml:3: Map keys must be unique; correct/],
    ['a list', 'kind: Tool\n---\n- a\n', /x\.yaml:3: this is not a Kubernetes object; it must be a map with a kind/],
    ['an item that is no object', 'kind: List\nitems:\n  - kind: Tool\n  - 4\n', /x\.yaml:4: this is not a Kubern/],
  ])('refuses %s', async (_, text, message) => {
    await using files = await temporaryFiles();
    const { code, err } = await bowline(['toolbox', 'inventory', '-f', await files.write('x.yaml', text)]);
    expect([code, err]).toEqual([2, expect.stringMatching(message)]);
  });
});

it('does not expand aliases into a huge object', () => {
  const levels = Array.from({ length: 8 }, (_, at) => {
    const list = Array.from({ length: 9 }, () => (at === 0 ? 'x' : `*a${at - 1}`));
    return `a${at}: &a${at} [${list.join(', ')}]`;
  });
  expect(() => readManifests('x.yaml', levels.join('\n'))).toThrow(/^x\.yaml:1: Excessive alias count/);
});
