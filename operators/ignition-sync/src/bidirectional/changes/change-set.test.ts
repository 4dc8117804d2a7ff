import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { ProtocolError } from '../../protocol/decode-json.ts';
import {
  ChangeRefused,
  type ChangesOf,
  contentOf,
  decodeChanges,
  encodeChanges,
  type GatewayChange,
  MAX_PART_BYTES,
} from './change-set.ts';

const COMMIT = 'a'.repeat(40);
const change = (path: string, content: Buffer | string | undefined): GatewayChange => ({
  path,
  action: content === undefined ? 'deleted' : 'modified',
  isExecutable: false,
  content: content === undefined ? undefined : Buffer.from(content),
});
const of = (...changes: GatewayChange[]): ChangesOf => ({
  gateway: 'site',
  timestamp: '2026-01-01T00:00:00Z',
  commit: COMMIT,
  changes,
});

describe('the changes of a gateway', () => {
  it('are read as they were sent, and equal changes are the same text', () => {
    const [first, second] = [change('b/view.json', '{"a":1}'), change('a/script.py', undefined)];
    const [text = ''] = encodeChanges(of(first, second));
    expect(encodeChanges(of(second, first))).toEqual([text]);
    const part = decodeChanges('site', text);
    expect(part).toMatchObject({ gateway: 'site', part: 1, parts: 1, commit: COMMIT });
    expect(part.files.map(({ path, action }) => `${action} ${path}`)).toEqual([
      'deleted a/script.py',
      'modified b/view.json',
    ]);
    expect(part.files.map((file) => contentOf(file, 100)?.toString())).toEqual([undefined, '{"a":1}']);
  });

  it('are sent in parts that fit into a ConfigMap, with one id', () => {
    const files = Array.from({ length: 8 }, (_, index) => change(`f${index}`, randomBytes(200_000)));
    const texts = encodeChanges(of(...files));
    const parts = texts.map((text) => decodeChanges('site', text));
    expect(texts.length).toBeGreaterThan(2);
    for (const text of texts) expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_PART_BYTES);
    expect(new Set(parts.map(({ id }) => id)).size).toBe(1);
    expect(parts.map(({ part, parts: total }) => `${part}/${total}`)).toEqual(
      texts.map((_, index) => `${index + 1}/${texts.length}`),
    );
    expect(parts.flatMap(({ files: sent }) => sent.map(({ path }) => path))).toEqual(files.map(({ path }) => path));
  });

  it.each([
    '../x',
    '/etc/passwd',
    'a//b',
    'a/../b',
    '.git/config',
    'a/.GIT/hooks/x',
    '.github/workflows/run.yml',
    '.gitlab-ci.yml',
    '.gitmodules',
    'projects/.resources/x',
    '.ignition-sync/manifest.json',
    'a\u0000b',
    'a\nb',
  ])('are refused for the path %j', (path) => {
    const [text = ''] = encodeChanges(of(change(path, 'x')));
    expect(() => decodeChanges('site', text)).toThrow(ChangeRefused);
  });

  it('are refused with content that is damaged, too large, or a bomb', () => {
    const [text = ''] = encodeChanges(of(change('a', 'content')));
    const [file] = decodeChanges('site', text).files;
    if (!file) throw new Error('the file is missing');
    expect(() => contentOf({ ...file, checksum: 'b'.repeat(64) }, 100)).toThrow('checksum');
    expect(() => contentOf({ ...file, content: 'bm90IGd6aXA=' }, 100)).toThrow(ChangeRefused);
    const [bomb = ''] = encodeChanges(of(change('a', Buffer.alloc(50_000_000))));
    const [large] = decodeChanges('site', bomb).files;
    expect(() => large && contentOf(large, 10_000_000)).toThrow('larger than 10000000 bytes');
  });

  it.each(['', 'null', '{"schema":"2"}', '{"schema":"1","files":[{"path":""}]}'])('are refused as %j', (text) => {
    expect(() => decodeChanges('site', text)).toThrow(ProtocolError);
  });
});
