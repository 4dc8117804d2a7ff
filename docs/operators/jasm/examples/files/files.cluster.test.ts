import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { jasmCluster, valuesOf } from '../../../../../operators/jasm/src/testing/jasm-cluster.test-support.ts';
import { withFiles } from './main.ts';

const folder = mkdtempSync(join(tmpdir(), 'bowline-files-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('a pod gets a secret from the provider', async () => {
  writeFileSync(join(folder, 'db'), '{"password":"correct horse"}');
  await using c = await jasmCluster({ operators: [withFiles(folder)] });
  await c.createPod('web', { provider: 'files', path: 'db', secretName: 'db' });
  expect(valuesOf(await c.untilSecret('db'))).toEqual({ password: 'correct horse' });

  await c.createPod('other', { provider: 'files', path: '../db', secretName: 'other' });
  const { note } = await c.untilEvent('other', 'AnnotationInvalid');
  expect(note).toContain('a path is the name of a file');
});
