import { describe, expect, it } from 'vitest';
import { someRequest } from '../pods/requesting-pod.test-support.ts';
import { newSecret } from './new-secret.test-support.ts';
import { planUnrequested, type Retention } from './plan-unrequested.ts';
import { type SecretView, secrets } from './secrets.ts';

const secretWith = (deletionPolicy: 'Retain' | 'Delete', change: Partial<SecretView> = {}): SecretView => ({
  ...secrets.viewOf(
    newSecret(
      'shop',
      {
        request: someRequest(),
        data: {},
        version: undefined,
        forced: undefined,
        deletionPolicy,
        askedBy: 'Pod/a',
        managedBy: 'caronte',
        restarts: false,
      },
      '2026-01-01T00:00:00Z',
    ),
  ),
  ...change,
});

const GRACE = 300_000;

describe('planUnrequested', () => {
  it.each<[what: string, given: Partial<Retention>, step: string]>([
    ['deletes a Secret with deletion policy Delete after the grace period', {}, 'delete'],
    ['waits for the rest of the grace period', { now: 1_000 }, `keep ${GRACE - 1_000}`],
    ['keeps a Secret with deletion policy Retain', { secret: secretWith('Retain') }, 'keep'],
    ['keeps a Secret if deletion is not allowed', { mayDelete: false }, 'keep'],
    ['keeps a paused Secret', { secret: secretWith('Delete', { isPaused: true }) }, 'keep'],
    ['keeps a Secret that is not ours', { secret: secretWith('Delete', { isOurs: false }) }, 'keep'],
    ['keeps a Secret while a pod has an invalid annotation', { hasInvalidAnnotation: () => true }, `keep ${GRACE}`],
    [
      'checks again after a minute if there is no grace period',
      { hasInvalidAnnotation: () => true, graceMs: 0 },
      'keep 60000',
    ],
  ])('%s', (_, given, expected) => {
    const step = planUnrequested({
      secret: secretWith('Delete'),
      unrequestedSince: 0,
      now: GRACE,
      graceMs: GRACE,
      mayDelete: true,
      hasInvalidAnnotation: () => false,
      ...given,
    });
    const { againInMs } = step.step === 'keep' ? step : {};
    expect([step.step, ...(againInMs === undefined ? [] : [againInMs])].join(' ')).toBe(expected);
  });
});
