import { describe, expect, it } from 'vitest';
import { RESTARTED_FOR } from '../api/names.ts';
import { dataHash } from '../content/data-hash.ts';
import { askersOf } from '../pods/askers.ts';
import { asking, type SomePod, someRequest } from '../pods/asking.test-support.ts';
import { newSecret } from './new-secret.test-support.ts';
import { needsRestart, restartMark, wantsRestart } from './restart.ts';
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
const secret: SecretView = { ...base, uid: 'uid', marks: { ...base.marks, restartFor: hash } };
const SYNCED = Date.parse('2026-01-01T00:00:00Z') / 1000;

describe('isRestartEnabled', () => {
  it.each([
    [{ entry: undefined, namespace: undefined, operator: false }, false],
    [{ entry: undefined, namespace: undefined, operator: true }, true],
    [{ entry: undefined, namespace: 'false', operator: true }, false],
    [{ entry: undefined, namespace: 'maybe', operator: true }, true],
    [{ entry: true, namespace: 'false', operator: false }, true],
    [{ entry: false, namespace: 'true', operator: true }, false],
  ])('decides %o as %s', (wish, answer) => {
    expect(wantsRestart(wish)).toBe(answer);
  });
});

describe('restartAnnotationFor', () => {
  it('exists only for replaced content', () => {
    expect(restartMark(base)).toBeUndefined();
    expect(restartMark({ ...secret, appliedHash: 'newer' })).toBeUndefined();
  });

  it('names the Secret, and reveals nothing of its content without its uid', () => {
    const mark = restartMark(secret);
    expect(mark).toEqual({
      annotation: `${RESTARTED_FOR}db`,
      value: expect.stringMatching(/^[0-9a-f]{16}$/) as string,
    });
    expect(hash).not.toContain(mark?.value);
    expect(restartMark({ ...secret, uid: 'other' })?.value).not.toBe(mark?.value);
  });

  it('shortens long names to fit an annotation, and keeps them distinct', () => {
    const long = ['a', 'b'].map(
      (end) => restartMark({ ...secret, name: `${'x'.repeat(252)}${end}` })?.annotation ?? '',
    );
    expect(new Set(long).size).toBe(2);
    for (const name of long) expect(name.split('/')[1]?.length).toBeLessThanOrEqual(63);
  });
});

describe('needsRestart', () => {
  const mark = restartMark(secret) ?? { annotation: '', value: '' };
  const needs = (pods: Readonly<Record<string, SomePod>>, restarted: readonly string[] = []): boolean => {
    const all = Object.entries(pods).map(([name, pod]) => {
      const { pod: view, request } = asking(name, pod);
      const restartedFor = restarted.includes(name)
        ? { [mark.annotation]: `${mark.value}@2026-01-01T00:00:00.000Z` }
        : {};
      return { pod: { ...view, restartedFor }, request };
    });
    return askersOf(all).some((asker) => needsRestart(asker, mark, secret));
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
