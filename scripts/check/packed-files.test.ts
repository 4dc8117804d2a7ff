import { expect, test } from 'vitest';
import { misplacedFiles } from './packed-files.ts';

test.each([
  'dist/server/policy.test-support.js',
  'dist/server/policy.test.d.ts',
  'dist/schema/fixtures/cases.js',
  'dist/fields/testdata/recorded.json',
  'src/index.ts',
  'dist/tsconfig.tsbuildinfo',
])('rejects %s', (file) => {
  expect(misplacedFiles([file])).toEqual([file]);
});

test.each([
  'dist/index.js',
  'dist/index.d.ts',
  'dist/testing/index.js',
  'package.json',
  'README.md',
  'binaries/go.mod',
])('ships %s', (file) => {
  expect(misplacedFiles([file])).toEqual([]);
});
