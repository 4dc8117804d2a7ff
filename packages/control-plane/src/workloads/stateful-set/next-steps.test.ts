import type { Pod, StatefulSet } from '@bowline/kubernetes';
import { expect, it } from 'vitest';
import { NOW, type PodTraits, podWith, READY } from '../pods/pod.test-support.ts';
import { REVISION_LABEL } from './identity.ts';
import { nextSteps } from './next-steps.ts';

type Spec = Partial<NonNullable<StatefulSet['spec']>>;

const at = (ordinal: number, more: Partial<PodTraits> = {}, revision = 'new'): Pod =>
  podWith({ name: `db-${ordinal}`, readySince: READY, labels: { [REVISION_LABEL]: revision }, ...more });
const unready = (ordinal: number): Pod => podWith({ name: `db-${ordinal}`, labels: { [REVISION_LABEL]: 'new' } });
const parallel: Spec = { podManagementPolicy: 'Parallel' };
const partition = (count: number): Spec => ({
  updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: count } },
});

it.each<[string, Spec, Pod[], string[]]>([
  ['creates the first Pod first', {}, [], ['create 0 update']],
  ['waits until a Pod is ready before the next', {}, [unready(0)], []],
  ['waits until a Pod is available', { minReadySeconds: 7200 }, [at(0)], []],
  ['creates the next Pod when the last is available', {}, [at(0)], ['create 1 update']],
  ['fills a gap first', {}, [at(0), at(2)], ['create 1 update']],
  ['replaces a Pod that has failed', {}, [at(0, { phase: 'Failed' })], ['delete db-0 failed']],
  ['starts at the configured ordinal', { ordinals: { start: 5 } }, [at(5)], ['create 6 update']],
  ['creates all missing Pods at once in parallel', parallel, [at(1)], ['create 0 update', 'create 2 update']],
  ['deletes the highest ordinal first', { replicas: 1 }, [at(0), at(1), at(2)], ['delete db-2 surplus']],
  ['waits until a terminating Pod is gone', { replicas: 1 }, [at(0), at(1), at(2, { isTerminating: true })], []],
  [
    'deletes all surplus Pods at once in parallel',
    { ...parallel, replicas: 0 },
    [at(0), at(1)],
    ['delete db-1 surplus', 'delete db-0 surplus'],
  ],
  [
    'updates the highest ordinal first',
    {},
    [at(0, {}, 'old'), at(1, {}, 'old'), at(2, {}, 'old')],
    ['delete db-2 outdated'],
  ],
  [
    'updates the next ordinal when the last is ready',
    {},
    [at(0, {}, 'old'), at(1, {}, 'old'), at(2)],
    ['delete db-1 outdated'],
  ],
  ['stops at the partition', partition(2), [at(0, {}, 'old'), at(1, {}, 'old'), at(2)], []],
  ['creates Pods below the partition from the current revision', partition(2), [], ['create 0 current']],
  [
    'updates nothing by itself with OnDelete',
    { updateStrategy: { type: 'OnDelete' } },
    [at(0, {}, 'old'), at(1), at(2)],
    [],
  ],
])('%s', (_, spec, pods, expected) => {
  const set: StatefulSet = { metadata: { name: 'db' }, spec: { replicas: 3, selector: {}, template: {}, ...spec } };
  const steps = nextSteps(set, { pods, updateRevision: 'new', now: NOW });
  const described = steps.map((step) =>
    step.do === 'create'
      ? `create ${step.ordinal} ${step.revision}`
      : `delete ${step.pod.metadata?.name ?? ''} ${step.why}`,
  );
  expect(described).toEqual(expected);
});
