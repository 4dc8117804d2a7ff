import { describe, expect, it } from 'vitest';
import { MANAGED_BY, SECRET_ANNOTATIONS, SECRET_LABELS } from '../api/names.ts';
import { dataHash } from '../content/data-hash.ts';
import { type AskingPod, askersOf } from '../pods/askers.ts';
import { asking, type SomePod, someRequest } from '../pods/asking.test-support.ts';
import type { WantedSecret } from './desired.ts';
import { forcedBy } from './forced.ts';
import type { Failure } from './memory.ts';
import { newSecret } from './new-secret.test-support.ts';
import { deletionPolicyOf, planSecret, pursuitOf, type Situation } from './plan-secret.ts';
import { type SecretView, secrets } from './secrets.ts';
import { chooseServing } from './serving.ts';

const SYNCED_AT = '2026-01-01T00:00:00Z';
const data = { password: 'b2xk' };
const wanted: WantedSecret = {
  request: someRequest(),
  data,
  version: 'v1',
  forced: undefined,
  deletionPolicy: 'Retain',
  askedBy: 'Pod/a',
  managedBy: 'caronte',
  restarts: false,
};

type Change = Partial<Omit<SecretView, 'marks'>> & { readonly marks?: Partial<SecretView['marks']> };

/** inPlace returns the Secret as we wrote it, with some changes. */
function inPlace({ marks, ...change }: Change = {}, from: Partial<WantedSecret> = {}): SecretView {
  const view = secrets.viewOf(newSecret('shop', { ...wanted, ...from }, SYNCED_AT));
  return { ...view, ...change, marks: { ...view.marks, ...marks } };
}

interface Given {
  readonly pods?: readonly (SomePod & { readonly name?: string })[];
  readonly secret?: Situation['secret'];
  /** Pods that were answered before. Defaults to all. */
  readonly answered?: readonly string[];
  readonly initial?: boolean;
  readonly isPermitted?: boolean;
  readonly tellsVersions?: boolean;
  readonly pursuedSince?: number;
  readonly readAt?: number;
  readonly failure?: Partial<Failure>;
  readonly repairs?: number;
  readonly markings?: number;
  readonly now?: number;
  readonly resyncMs?: number;
}

const HOUR = 3_600_000;

function situation(given: Given): Situation {
  const { pods = [{}], secret, answered, now = 1_000, failure } = given;
  const seen = { noticedAt: 500, isInitial: given.initial ?? false };
  const all = pods.map(({ name, ...pod }, index): AskingPod => ({ ...asking(name ?? `pod-${index}`, pod), ...seen }));
  const [first, ...others] = askersOf(all);
  if (!first) throw new TypeError('nobody asks');
  const view = typeof secret === 'object' ? secret : undefined;
  return {
    serving: chooseServing([first, ...others], view?.marks, () => true),
    secret,
    isPermitted: given.isPermitted ?? true,
    tellsVersions: given.tellsVersions ?? true,
    deletionPolicy: deletionPolicyOf([first, ...others]),
    answeredFor: ({ pod, request }) => ((answered?.includes(pod.uid) ?? view !== undefined) ? request.hash : undefined),
    pursuedSince: given.pursuedSince ?? 0,
    readAt: given.readAt ?? 0,
    failure: failure && {
      problem: { reason: 'SecretFetchFailed', message: 'no' },
      requestHash: someRequest().hash,
      forced: undefined,
      pods: new Set(all.map(({ pod }) => pod.uid)),
      foreignKeys: undefined,
      count: 1,
      until: 60_000,
      delayMs: 60_000,
      version: undefined,
      ...failure,
    },
    repairs: { count: given.repairs ?? 0, at: now },
    markings: { count: given.markings ?? 0, at: now },
    now,
    instant: now,
    resyncMs: given.resyncMs ?? 10 * HOUR,
  };
}

/** forcedTo returns a Secret that has satisfied its pods, the first of which have these values. */
function forcedTo(...values: readonly string[]) {
  const pods = values.map((forceSync) => ({ forceSync }));
  return inPlace({ marks: { forced: forcedBy(situation({ secret: inPlace(), pods }).serving) } });
}

/** said returns a step as one line. */
function said(given: Given): string {
  const step = planSecret(situation(given));
  switch (step.step) {
    case 'rest':
      return [step.isServed ? 'rest' : 'leave', ...(step.againInMs === undefined ? [] : [step.againInMs])].join(' ');
    case 'stop':
      return ['stop', step.problem.reason, ...(step.againInMs === undefined ? [] : [step.againInMs])].join(' ');
    case 'mark':
      return 'mark';
    case 'read': {
      const { cause, since, known, force } = step;
      return [cause, `since ${since}`, ...(known ? [`known ${known}`] : []), ...(force ? ['force'] : [])].join(' ');
    }
  }
}

/** A Secret of another owner, with consent, into which nothing was merged yet. */
const merging: Given = {
  secret: inPlace({ isOurs: false, isMergeAllowed: true, foreignKeys: 'a,b', marks: { requestHash: undefined } }),
  pods: [{ request: { creationPolicy: 'Merge' } }],
};
const inTheWay: Partial<Failure> = { problem: { reason: 'SecretConflict', message: 'keys' } };

type Row = [what: string, given: Given, step: string];

describe('planSecret', () => {
  it.each<Row>([
    ['reads for a Secret that is not there', {}, 'absent since 500'],
    ['wants no answer of the time when something was in the way', { pursuedSince: 700 }, 'absent since 700'],
    [
      'wants none for a pod that came while the Secret was paused either',
      { secret: inPlace(), answered: [], pursuedSince: 700 },
      'pod since 700 known v1',
    ],
    ['reads at once for one that was deleted', { answered: ['pod-0'] }, 'absent since 1000'],
    ['rests when everybody has what they asked for', { secret: inPlace() }, `rest ${10 * HOUR - 1_000}`],
    ['rests for good where nothing is looked at regularly', { secret: inPlace(), resyncMs: 0 }, 'rest'],
    [
      'reads when something else is asked',
      { secret: inPlace(), pods: [{ name: 'a', request: { path: '/other' } }] },
      'request since 1000',
    ],
    ['reads when somebody edited it', { secret: inPlace({ ownHash: 'edited' }) }, 'drift since 1000'],
    [
      'reads for a Secret of before that was handed over',
      { secret: inPlace({ appliedHash: undefined, marks: { requestHash: undefined, version: undefined } }) },
      'request since 1000',
    ],
    ['asks for the version when a pod is new', { secret: inPlace(), answered: [] }, 'pod since 500 known v1'],
    [
      'asks for the version after a restart',
      { secret: inPlace(), answered: [], initial: true },
      'pod since 500 known v1',
    ],
    [
      'reads nothing after a restart where there are no versions and the pods are older than the content',
      { secret: inPlace({ marks: { version: undefined } }), answered: [], initial: true },
      `rest ${10 * HOUR - 1_000}`,
    ],
    [
      'reads nothing after a restart where versions come with their values and the pods are older than the content',
      { secret: inPlace(), tellsVersions: false, answered: [], initial: true },
      `rest ${10 * HOUR - 1_000}`,
    ],
    [
      'reads after a restart where there are no versions and a pod is younger than the content',
      {
        secret: inPlace({ marks: { version: undefined } }),
        answered: [],
        initial: true,
        pods: [{ at: Date.parse(SYNCED_AT) / 1000 + 1 }],
      },
      'pod since 500',
    ],
    ['obeys force-sync', { secret: inPlace(), pods: [{ forceSync: 'now' }] }, 'forced since 500 force'],
    [
      'obeys a value of force-sync once',
      { secret: forcedTo('now'), pods: [{ forceSync: 'now' }], resyncMs: 0 },
      'rest',
    ],
    [
      'takes different values of force-sync together',
      {
        secret: forcedTo('b', 'a'),
        pods: [{ forceSync: 'b' }, { forceSync: 'a' }, {}],
        resyncMs: 0,
      },
      'rest',
    ],
    ['does not force for an annotation that is gone', { secret: forcedTo('now'), resyncMs: 0 }, 'rest'],
    [
      'looks at the source when that is due, a little early so that others may share it',
      { secret: inPlace(), pods: [{ request: { refreshIntervalMs: 60_000 } }], now: 60_000 },
      'refresh since 54000 known v1',
    ],
    [
      'waits until then',
      { secret: inPlace(), pods: [{ request: { refreshIntervalMs: 60_000 } }], now: 59_000 },
      'rest 1000',
    ],
    [
      'records that it goes with its askers',
      { secret: inPlace(), pods: [{ request: { deletionPolicy: 'Delete' } }] },
      'mark',
    ],
    [
      'does not record it when one of them wants it to stay',
      { secret: inPlace(), pods: [{ request: { deletionPolicy: 'Delete' } }, {}], resyncMs: 0 },
      'rest',
    ],
    ['puts its labels right', { secret: inPlace({ labels: { [SECRET_LABELS.provider]: 'vault' } }) }, 'mark'],
    ['leaves a Secret alone that is paused', { secret: inPlace({ isPaused: true, ownHash: 'edited' }) }, 'leave'],
    ['waits for one that is being deleted', { secret: inPlace({ isTerminating: true }) }, 'leave'],
    ['does nothing without permission', { secret: inPlace({ ownHash: 'edited' }), isPermitted: false }, 'leave'],
    ['does nothing for pods that are being deleted', { pods: [{ isTerminating: true }] }, 'leave'],
    ['does not touch what is not ours', { secret: 'foreign' }, 'stop SecretConflict'],
    [
      'merges only with consent',
      { secret: inPlace({ isOurs: false }), pods: [{ request: { creationPolicy: 'Merge' } }] },
      'stop SecretConflict',
    ],
    [
      'merges with consent',
      {
        secret: inPlace({
          isOurs: false,
          isMergeAllowed: true,
          type: 'kubernetes.io/tls',
          marks: { requestHash: undefined },
        }),
        pods: [{ request: { creationPolicy: 'CreateOrMerge' } }],
      },
      'request since 1000',
    ],
    ['creates no Secret to merge into', { pods: [{ request: { creationPolicy: 'Merge' } }] }, 'stop SecretSyncFailed'],
    ['creates one where it may', { pods: [{ request: { creationPolicy: 'CreateOrMerge' } }] }, 'absent since 500'],
    ['cannot change a type', { secret: inPlace({ type: 'kubernetes.io/tls' }) }, 'stop SecretSyncFailed'],
    [
      'never reads for an immutable Secret that is there',
      { secret: inPlace({ isImmutable: true }), answered: [], pods: [{ forceSync: 'now' }] },
      'rest',
    ],
    [
      'cannot change an immutable Secret to something else',
      { secret: inPlace({ isImmutable: true }), pods: [{ request: { path: '/other' } }] },
      'stop SecretSyncFailed',
    ],
    [
      'repairs a few times in a row at once',
      { secret: inPlace({ ownHash: 'edited' }), repairs: 4 },
      'drift since 1000',
    ],
    ['slows down when somebody fights for it', { secret: inPlace({ ownHash: 'edited' }), repairs: 7 }, 'leave 4000'],
    ['slows down when somebody keeps deleting it', { answered: ['pod-0'], repairs: 5 }, 'leave 1000'],
    [
      'slows down when somebody keeps changing what it says',
      { secret: inPlace({ labels: { [SECRET_LABELS.provider]: 'x' } }), markings: 6 },
      'rest 2000',
    ],
    [
      'slows down when somebody keeps removing what it says',
      { secret: inPlace({ marks: { requestHash: undefined } }), markings: 6 },
      'leave 2000',
    ],
    [
      'does not for a request that changed',
      { secret: inPlace(), pods: [{ request: { path: '/other' } }], markings: 6 },
      'request since 1000',
    ],
    ['says again what is wrong until it is time to try again', { failure: {} }, 'stop SecretFetchFailed 59000'],
    ['tries again then, for a newer answer', { failure: {}, now: 61_000 }, 'absent since 54000'],
    [
      'asks whether the version is still the bad one',
      { failure: { version: 'bad' }, now: 61_000 },
      'absent since 54000 known bad',
    ],
    ['tries at once for a new pod', { failure: { pods: new Set() } }, 'absent since 500'],
    ['tries at once for another request', { failure: { requestHash: 'other', version: 'bad' } }, 'absent since 500'],
    [
      'waits while a Secret of others whose keys are in the way is as it was',
      { ...merging, failure: { ...inTheWay, foreignKeys: 'a,b' } },
      'stop SecretConflict 59000',
    ],
    [
      'tries at once when others have changed it',
      { ...merging, failure: { ...inTheWay, foreignKeys: 'a,b,c' } },
      'request since 1000',
    ],
    ['tries at once when told to', { pods: [{ forceSync: 'x' }], failure: {} }, 'absent since 500'],
    [
      'does not when somebody who told it is gone',
      { secret: inPlace(), failure: { forced: 'x@pod' } },
      'stop SecretFetchFailed 59000',
    ],
    [
      'tries again what failed while the Secret is in place',
      { secret: inPlace(), failure: {}, now: 61_000 },
      'retry since 54000 known v1',
    ],
    [
      'never tries again where that is configured',
      { failure: { until: Infinity, delayMs: Infinity } },
      'stop SecretFetchFailed Infinity',
    ],
  ])('%s', (_, given, step) => {
    expect(said(given)).toBe(step);
  });

  it.each<[string, Given, string | undefined]>([
    ['it reads', {}, someRequest().hash],
    ['it waits to read again', { failure: {} }, someRequest().hash],
    ['somebody else has the name', { secret: 'foreign' }, undefined],
    ['it may not', { isPermitted: false }, undefined],
    ['all is well', { secret: inPlace() }, undefined],
  ])('pursues the request, or not, when %s', (_, given, requestHash) => {
    const about = situation({ pursuedSince: 7, ...given });
    expect(pursuitOf(about, planSecret(about))).toEqual({ requestHash, since: 7, at: 1_000 });
  });

  it('takes both values of the label for ours', () => {
    const manifest = newSecret('shop', { ...wanted, managedBy: 'jasm' }, SYNCED_AT);
    expect(said({ secret: secrets.viewOf(manifest), resyncMs: 0 })).toBe('rest');
    const foreign = { ...manifest.metadata, labels: { [MANAGED_BY]: 'Helm' } };
    expect(said({ secret: secrets.viewOf({ ...manifest, metadata: foreign }) })).toBe('stop SecretConflict');
  });

  it('knows a Secret whose data is empty from the annotation alone', () => {
    const empty = newSecret('shop', { ...wanted, data: {} }, SYNCED_AT);
    expect(empty.data).toBeUndefined();
    expect(empty.metadata?.annotations?.[SECRET_ANNOTATIONS.dataHash]).toBe(dataHash({}));
    expect(said({ secret: secrets.viewOf(empty), resyncMs: 0 })).toBe('rest');
  });
});
