import { describe, expect, it } from 'vitest';
import { RESTARTED_FOR } from '../api/names.ts';
import { dataHash } from '../content/data-hash.ts';
import { requestersOf } from '../pods/requesters.ts';
import { requestingPod, type SomePod, someRequest } from '../pods/requesting-pod.test-support.ts';
import { newSecret } from './new-secret.test-support.ts';
import { isRestartEnabled, needsRestart, restartAnnotationFor } from './restart.ts';
import { type SecretView, secrets } from './secrets.ts';

const hash = dataHash({ a: 'YQ==' });
const wanted = {
  request: someRequest(),
  data: { a: 'YQ==' },
  version: undefined,
  forced: undefined,
  deletionPolicy: 'Retain',
  askedBy: 'Deployment.apps/web',
  managedBy: 'caronte',
  restarts: true,
} as const;
const base = secrets.viewOf(newSecret('shop', wanted, '2026-01-01T00:00:00Z'));
const secret: SecretView = {
  ...base,
  uid: 'uid',
  operatorAnnotations: { ...base.operatorAnnotations, restartFor: hash },
};
const SYNCED = Date.parse('2026-01-01T00:00:00Z') / 1000;

describe('isRestartEnabled', () => {
  it.each([
    [{ entry: undefined, namespace: undefined, operator: false }, false],
    [{ entry: undefined, namespace: undefined, operator: true }, true],
    [{ entry: undefined, namespace: 'false', operator: true }, false],
    [{ entry: undefined, namespace: 'maybe', operator: true }, true],
    [{ entry: true, namespace: 'false', operator: false }, true],
    [{ entry: false, namespace: 'true', operator: true }, false],
  ])('decides %o as %s', (settings, answer) => {
    expect(isRestartEnabled(settings)).toBe(answer);
  });
});

describe('restartAnnotationFor', () => {
  it('exists only for replaced content', () => {
    expect(restartAnnotationFor(base)).toBeUndefined();
    expect(restartAnnotationFor({ ...secret, appliedHash: 'newer' })).toBeUndefined();
  });

  it('names the Secret, and reveals nothing of its content without its uid', () => {
    const mark = restartAnnotationFor(secret);
    expect(mark).toEqual({
      annotation: `${RESTARTED_FOR}db`,
      value: expect.stringMatching(/^[0-9a-f]{16}$/) as string,
    });
    expect(hash).not.toContain(mark?.value);
    expect(restartAnnotationFor({ ...secret, uid: 'other' })?.value).not.toBe(mark?.value);
  });

  it('shortens long names to fit an annotation, and keeps them distinct', () => {
    const long = ['a', 'b'].map(
      (end) => restartAnnotationFor({ ...secret, name: `${'x'.repeat(252)}${end}` })?.annotation ?? '',
    );
    expect(new Set(long).size).toBe(2);
    for (const name of long) expect(name.split('/')[1]?.length).toBeLessThanOrEqual(63);
  });
});

describe('needsRestart', () => {
  const mark = restartAnnotationFor(secret) ?? { annotation: '', value: '' };
  const needs = (pods: Readonly<Record<string, SomePod>>, restarted: readonly string[] = []): boolean => {
    const all = Object.entries(pods).map(([name, pod]) => {
      const { pod: view, request } = requestingPod(name, pod);
      const restartedFor = restarted.includes(name)
        ? { [mark.annotation]: `${mark.value}@2026-01-01T00:00:00.000Z` }
        : {};
      return { pod: { ...view, restartedFor }, request };
    });
    return requestersOf(all).some((requester) => needsRestart(requester, mark, secret));
  };

  it.each<[what: string, pods: Readonly<Record<string, SomePod>>, restarted: readonly string[], answer: boolean]>([
    ['pods that are older than the content', { a: { of: 'web', at: SYNCED - 10 } }, [], true],
    [
      'one of several pods that is older',
      { a: { of: 'web', at: SYNCED - 10 }, b: { of: 'web', at: SYNCED + 61 } },
      [],
      true,
    ],
    ['no pods that were created since', { a: { of: 'web', at: SYNCED + 61 } }, [], false],
    ['no pods that were restarted for it', { a: { of: 'web', at: SYNCED } }, ['a'], false],
    ['no pod without a controller', { a: { at: SYNCED - 10 } }, [], false],
  ])('is true for %s', (_, pods, restarted, answer) => {
    expect(needs(pods, restarted)).toBe(answer);
  });
});
