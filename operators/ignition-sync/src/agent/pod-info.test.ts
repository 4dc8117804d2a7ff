import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseFields, readPodInfo } from './pod-info.ts';

describe('the labels and annotations of the pod', () => {
  it.each([
    ['app="site"', { app: 'site' }],
    ['a="1"\nexample.com/b="x=\\"y\\""\n', { a: '1', 'example.com/b': 'x="y"' }],
    ['a="line 1\\nline 2\\ttab\\\\"', { a: 'line 1\nline 2\ttab\\' }],
    ['a="\\u00e9\\U0001F600\\x41"', { a: 'é😀A' }],
    ['a="grün"', { a: 'grün' }],
    ['a=""', { a: '' }],
    ['no quotes\na="b"', { a: 'b' }],
    ['', {}],
  ])('are read as the kubelet writes them: %j', (text, fields) => {
    expect(parseFields(text)).toEqual(fields);
  });

  it('are none without a folder, or before the kubelet has written them', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'bowline-pod-info-'));
    try {
      expect(await readPodInfo(undefined)).toEqual({ labels: {}, annotations: {} });
      expect(await readPodInfo(folder)).toEqual({ labels: {}, annotations: {} });
      await writeFile(join(folder, 'labels'), 'app="site"');
      expect(await readPodInfo(folder)).toEqual({ labels: { app: 'site' }, annotations: {} });
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
