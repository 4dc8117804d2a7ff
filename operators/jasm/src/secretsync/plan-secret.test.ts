import { describe, expect, it } from 'vitest';
import { MANAGED_BY, SECRET_ANNOTATIONS, SECRET_LABELS } from '../api/names.ts';
import { dataHash } from '../content/data-hash.ts';
import { type RequestingPod, requestersOf } from '../pods/requesters.ts';
import { requestingPod, type SomePod, someRequest } from '../pods/requesting-pod.test-support.ts';
import type { WantedSecret } from './desired.ts';
import { forcedBy } from './forced.ts';
import type { Failure } from './memory.ts';
import { newSecret } from './new-secret.test-support.ts';
import { activeRequestOf, deletionPolicyOf, planSecret, type Situation } from './plan-secret.ts';
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

type Change = Partial<Omit<SecretView, 'operatorAnnotations'>> & {
  readonly marks?: Partial<SecretView['operatorAnnotations']>;
};

/** inPlace returns the Secret as we wrote it, with some changes. */
function inPlace({ marks, ...change }: Change = {}, from: Partial<WantedSecret> = {}): SecretView {
  const view = secrets.viewOf(newSecret('shop', { ...wanted, ...from }, SYNCED_AT));
  return { ...view, ...change, operatorAnnotations: { ...view.operatorAnnotations, ...marks } };
}

interface Given {
  readonly pods?: readonly (SomePod & { readonly name?: string })[];
  readonly secret?: Situation['secret'];
  /** Pods that were answered before. Defaults to all. */
  readonly handled?: readonly string[];
  readonly initial?: boolean;
  readonly isPermitted?: boolean;
  readonly canProbeVersion?: boolean;
  readonly readNeededSince?: number;
  readonly readAt?: number;
  readonly failure?: Partial<Failure>;
  readonly repairs?: number;
  readonly metadataRepairs?: number;
  readonly now?: number;
  readonly resyncMs?: number;
}

const HOUR = 3_600_000;

function situation(given: Given): Situation {
  const { pods = [{}], secret, handled, now = 1_000, failure } = given;
  const seen = { observedAt: 500, isInitial: given.initial ?? false };
  const all = pods.map(
    ({ name, ...pod }, index): RequestingPod => ({ ...requestingPod(name ?? `pod-${index}`, pod), ...seen }),
  );
  const [first, ...others] = requestersOf(all);
  if (!first) throw new TypeError('at least one pod is needed');
  const view = typeof secret === 'object' ? secret : undefined;
  return {
    serving: chooseServing([first, ...others], view?.operatorAnnotations, () => true),
    secret,
    isPermitted: given.isPermitted ?? true,
    canProbeVersion: given.canProbeVersion ?? true,
    deletionPolicy: deletionPolicyOf([first, ...others]),
    handledHashOf: ({ pod, request }) =>
      (handled?.includes(pod.uid) ?? view !== undefined) ? request.hash : undefined,
    readNeededSince: given.readNeededSince ?? 0,
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
    metadataRepairs: { count: given.metadataRepairs ?? 0, at: now },
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

/** summaryOf returns a step as one line. */
function summaryOf(given: Given): string {
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
const keyConflict: Partial<Failure> = { problem: { reason: 'SecretConflict', message: 'keys' } };

type Row = [what: string, given: Given, step: string];

describe('planSecret', () => {
  it.each<Row>([
    ['reads for a missing Secret', {}, 'absent since 500'],
    ['does not accept a response from before an obstacle was removed', { readNeededSince: 700 }, 'absent since 700'],
    [
      'does not accept one from before a pause ended',
      { secret: inPlace(), handled: [], readNeededSince: 700 },
      'pod since 700 known v1',
    ],
    ['reads immediately for a deleted Secret', { handled: ['pod-0'] }, 'absent since 1000'],
    ['does nothing when all requests are fulfilled', { secret: inPlace() }, `rest ${10 * HOUR - 1_000}`],
    ['does nothing further if there are no periodic checks', { secret: inPlace(), resyncMs: 0 }, 'rest'],
    [
      'reads when the request changes',
      { secret: inPlace(), pods: [{ name: 'a', request: { path: '/other' } }] },
      'request since 1000',
    ],
    ['reads when the Secret was edited', { secret: inPlace({ ownHash: 'edited' }) }, 'drift since 1000'],
    [
      'reads for an existing Secret that was transferred',
      { secret: inPlace({ appliedHash: undefined, marks: { requestHash: undefined, version: undefined } }) },
      'request since 1000',
    ],
    ['checks the version for a new pod', { secret: inPlace(), handled: [] }, 'pod since 500 known v1'],
    ['checks the version after a restart', { secret: inPlace(), handled: [], initial: true }, 'pod since 500 known v1'],
    [
      'reads nothing after a restart if there are no versions and the pods are older than the content',
      { secret: inPlace({ marks: { version: undefined } }), handled: [], initial: true },
      `rest ${10 * HOUR - 1_000}`,
    ],
    [
      'reads nothing after a restart if versions require the value and the pods are older than the content',
      { secret: inPlace(), canProbeVersion: false, handled: [], initial: true },
      `rest ${10 * HOUR - 1_000}`,
    ],
    [
      'reads after a restart if there are no versions and a pod is younger than the content',
      {
        secret: inPlace({ marks: { version: undefined } }),
        handled: [],
        initial: true,
        pods: [{ at: Date.parse(SYNCED_AT) / 1000 + 1 }],
      },
      'pod since 500',
    ],
    ['reads for force-sync', { secret: inPlace(), pods: [{ forceSync: 'now' }] }, 'forced since 500 force'],
    [
      'processes a value of force-sync once',
      { secret: forcedTo('now'), pods: [{ forceSync: 'now' }], resyncMs: 0 },
      'rest',
    ],
    [
      'processes different values of force-sync together',
      {
        secret: forcedTo('b', 'a'),
        pods: [{ forceSync: 'b' }, { forceSync: 'a' }, {}],
        resyncMs: 0,
      },
      'rest',
    ],
    ['does not force a read for a removed annotation', { secret: forcedTo('now'), resyncMs: 0 }, 'rest'],
    [
      'checks the source when a refresh is due, slightly early so that others may share it',
      { secret: inPlace(), pods: [{ request: { refreshIntervalMs: 60_000 } }], now: 60_000 },
      'refresh since 54000 known v1',
    ],
    [
      'waits until the refresh is due',
      { secret: inPlace(), pods: [{ request: { refreshIntervalMs: 60_000 } }], now: 59_000 },
      'rest 1000',
    ],
    [
      'records that the Secret is deleted with its requesters',
      { secret: inPlace(), pods: [{ request: { deletionPolicy: 'Delete' } }] },
      'mark',
    ],
    [
      'does not record it if one of them retains the Secret',
      { secret: inPlace(), pods: [{ request: { deletionPolicy: 'Delete' } }, {}], resyncMs: 0 },
      'rest',
    ],
    ['corrects the labels', { secret: inPlace({ labels: { [SECRET_LABELS.provider]: 'vault' } }) }, 'mark'],
    ['does not change a paused Secret', { secret: inPlace({ isPaused: true, ownHash: 'edited' }) }, 'leave'],
    ['waits for a Secret that is being deleted', { secret: inPlace({ isTerminating: true }) }, 'leave'],
    ['does nothing without permission', { secret: inPlace({ ownHash: 'edited' }), isPermitted: false }, 'leave'],
    ['does nothing for terminating pods', { pods: [{ isTerminating: true }] }, 'leave'],
    ['does not change a Secret that is not ours', { secret: 'foreign' }, 'stop SecretConflict'],
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
    [
      'creates a Secret with CreateOrMerge',
      { pods: [{ request: { creationPolicy: 'CreateOrMerge' } }] },
      'absent since 500',
    ],
    ['does not change a type', { secret: inPlace({ type: 'kubernetes.io/tls' }) }, 'stop SecretSyncFailed'],
    [
      'never reads for an existing immutable Secret',
      { secret: inPlace({ isImmutable: true }), handled: [], pods: [{ forceSync: 'now' }] },
      'rest',
    ],
    [
      'does not change the content of an immutable Secret',
      { secret: inPlace({ isImmutable: true }), pods: [{ request: { path: '/other' } }] },
      'stop SecretSyncFailed',
    ],
    [
      'repairs immediately a few times in a row',
      { secret: inPlace({ ownHash: 'edited' }), repairs: 4 },
      'drift since 1000',
    ],
    [
      'slows down when another client keeps editing it',
      { secret: inPlace({ ownHash: 'edited' }), repairs: 7 },
      'leave 4000',
    ],
    ['slows down when another client keeps deleting it', { handled: ['pod-0'], repairs: 5 }, 'leave 1000'],
    [
      'slows down when another client keeps changing its annotations',
      { secret: inPlace({ labels: { [SECRET_LABELS.provider]: 'x' } }), metadataRepairs: 6 },
      'rest 2000',
    ],
    [
      'slows down when another client keeps removing its annotations',
      { secret: inPlace({ marks: { requestHash: undefined } }), metadataRepairs: 6 },
      'leave 2000',
    ],
    [
      'does not slow down for a changed request',
      { secret: inPlace(), pods: [{ request: { path: '/other' } }], metadataRepairs: 6 },
      'request since 1000',
    ],
    ['reports the problem again until the next retry', { failure: {} }, 'stop SecretFetchFailed 59000'],
    ['retries when the delay is over, with a newer read', { failure: {}, now: 61_000 }, 'absent since 54000'],
    [
      'checks whether the unusable version is still current',
      { failure: { version: 'bad' }, now: 61_000 },
      'absent since 54000 known bad',
    ],
    ['retries immediately for a new pod', { failure: { pods: new Set() } }, 'absent since 500'],
    [
      'retries immediately for another request',
      { failure: { requestHash: 'other', version: 'bad' } },
      'absent since 500',
    ],
    [
      'waits while the conflicting keys of another owner are unchanged',
      { ...merging, failure: { ...keyConflict, foreignKeys: 'a,b' } },
      'stop SecretConflict 59000',
    ],
    [
      'retries immediately when the owner has changed the keys',
      { ...merging, failure: { ...keyConflict, foreignKeys: 'a,b,c' } },
      'request since 1000',
    ],
    ['retries immediately for force-sync', { pods: [{ forceSync: 'x' }], failure: {} }, 'absent since 500'],
    [
      'does not retry immediately when a pod with force-sync is deleted',
      { secret: inPlace(), failure: { forced: 'x@pod' } },
      'stop SecretFetchFailed 59000',
    ],
    [
      'retries a failed read while the Secret exists',
      { secret: inPlace(), failure: {}, now: 61_000 },
      'retry since 54000 known v1',
    ],
    [
      'never retries if retries are disabled',
      { failure: { until: Infinity, delayMs: Infinity } },
      'stop SecretFetchFailed Infinity',
    ],
  ])('%s', (_, given, step) => {
    expect(summaryOf(given)).toBe(step);
  });

  it.each<[string, Given, string | undefined]>([
    ['it reads', {}, someRequest().hash],
    ['it waits to read again', { failure: {} }, someRequest().hash],
    ['another owner has the name', { secret: 'foreign' }, undefined],
    ['it is not permitted', { isPermitted: false }, undefined],
    ['nothing is to be done', { secret: inPlace() }, undefined],
  ])('records whether a request is active when %s', (_, given, requestHash) => {
    const about = situation({ readNeededSince: 7, ...given });
    expect(activeRequestOf(about, planSecret(about))).toEqual({ requestHash, since: 7, at: 1_000 });
  });

  it('accepts both values of the label as ours', () => {
    const manifest = newSecret('shop', { ...wanted, managedBy: 'jasm' }, SYNCED_AT);
    expect(summaryOf({ secret: secrets.viewOf(manifest), resyncMs: 0 })).toBe('rest');
    const foreign = { ...manifest.metadata, labels: { [MANAGED_BY]: 'Helm' } };
    expect(summaryOf({ secret: secrets.viewOf({ ...manifest, metadata: foreign }) })).toBe('stop SecretConflict');
  });

  it('recognizes a Secret with empty data by its annotation', () => {
    const empty = newSecret('shop', { ...wanted, data: {} }, SYNCED_AT);
    expect(empty.data).toBeUndefined();
    expect(empty.metadata?.annotations?.[SECRET_ANNOTATIONS.dataHash]).toBe(dataHash({}));
    expect(summaryOf({ secret: secrets.viewOf(empty), resyncMs: 0 })).toBe('rest');
  });
});
