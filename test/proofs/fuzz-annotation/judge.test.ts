import { seededRandom } from '@bowline/machinery';
import { describe, expect, test } from 'vitest';
import { parsePodAnnotation } from '../../../operators/jasm/src/annotation/parse-pod-annotation.ts';
import type { PodAnnotation, SecretSyncRequest } from '../../../operators/jasm/src/annotation/secret-sync-request.ts';
import { asAnnotation, dataFor, jsonProblems, resultProblems } from './judge.ts';
import { SecretServer } from './secret-server.ts';

function read(text: string): { result: PodAnnotation; request: SecretSyncRequest } {
  const result = parsePodAnnotation(text, undefined);
  const [request] = result.requests;
  if (!request) throw new Error(result.problems[0]?.message);
  return { result, request };
}

const TEXT = '{"provider":"mock","path":"a","secretName":"a","keys":["b"],"refreshInterval":"1h"}';

describe('the judge', () => {
  test('accepts a valid annotation', () => {
    const { result, request } = read(TEXT);
    expect(resultProblems(result)).toEqual([]);
    expect(jsonProblems(TEXT, result)).toEqual([]);
    expect(read(asAnnotation(request)).request).toEqual({ ...request });
    expect(Object.keys(dataFor(seededRandom(1), request).data ?? {})).toEqual(['b']);
  });

  test('detects empty results, unreadable messages, and duplicate Secrets', () => {
    const { request } = read(TEXT);
    const reason = 'AnnotationInvalid';
    expect(resultProblems({ requests: [], problems: [] })).toHaveLength(1);
    expect(resultProblems({ requests: [], problems: [{ reason, message: '' }] })).toHaveLength(1);
    expect(resultProblems({ requests: [], problems: [{ reason, message: 'a\u0007' }] })).toHaveLength(1);
    expect(resultProblems({ requests: [], problems: [{ reason, message: 'x'.repeat(100_000) }] })).toHaveLength(1);
    expect(resultProblems({ requests: [request, request], problems: [] })).toHaveLength(1);
  });

  test('detects values that were misread', () => {
    const { request } = read(TEXT);
    expect(jsonProblems(TEXT, { requests: [{ ...request, path: 'b' }], problems: [] })).toHaveLength(1);
  });

  test('detects data that a fitting secret does not produce', () => {
    const { request } = read(TEXT);
    expect(dataFor(seededRandom(1), { ...request, keys: [{ target: '..x', source: 'a' }] }).problem).toMatch(
      /is rejected/,
    );
  });

  test('gets the rejections of the API server', async () => {
    const { request } = read(TEXT);
    await using server = await SecretServer.reach(undefined);
    expect(await server.refusals(request, { a: 'YQ==' })).toEqual([]);
    expect(await server.refusals({ ...request, secretName: 'A' }, {})).toEqual([
      expect.stringContaining('metadata.name'),
    ]);
    expect(await server.refusals({ ...request, type: 'kubernetes.io/tls' }, {})).toEqual([
      expect.stringContaining('data[tls.crt]'),
    ]);
    expect(await server.refusals(request, { '..x': 'YQ==' })).toEqual([expect.stringContaining('data[..x]')]);
  }, 30_000);
});
