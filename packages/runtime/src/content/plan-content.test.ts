import type { ConfigMap } from '@bowline/kubernetes';
import { describe, expect, it } from 'vitest';
import { MANAGED_BY } from '../identity/operator-identity.ts';
import { newBody } from './content-bodies.ts';
import type { DesiredContent } from './managed-content.ts';
import { type ContentPolicy, planContent } from './plan-content.ts';
import {
  ALLOWED,
  desiredSample,
  MANAGER,
  OWNER,
  PREFIX,
  type SampleView,
  sample,
  sampleClaim,
  storedAs,
} from './sample-content.test-support.ts';

const objectKey = { namespace: 'b', name: 'settings' };
const at = '2026-01-01T00:00:00Z';
const desired = desiredSample({ data: { color: 'red' } });
const older = desiredSample({ data: { color: 'blue' } });
type Desired = DesiredContent<'data' | 'binaryData', 'uid' | 'version' | 'large' | 'dropped'>;

/** An object as we wrote it. */
const written = (from: Desired = desired, change: Partial<ConfigMap> = {}): ConfigMap => ({
  ...newBody(
    sample,
    objectKey,
    from,
    { content: from.content ?? {}, hash: from.hash ?? '', keyList: from.keyList },
    { at },
  ),
  ...change,
});
const withMetadata = (
  change: { readonly labels?: Record<string, string>; readonly annotations?: Record<string, string> },
  object = written(),
): ConfigMap => ({
  ...object,
  metadata: {
    ...object.metadata,
    labels: { ...object.metadata?.labels, ...change.labels },
    annotations: { ...object.metadata?.annotations, ...change.annotations },
  },
});
const adopted = (from = desired, change: Partial<ConfigMap> = {}): ConfigMap => ({
  ...withMetadata({ annotations: { [`${PREFIX}adopted`]: 'true' } }, written(from)),
  ...change,
});
const foreign = (change: Partial<ConfigMap> = {}): ConfigMap => ({
  metadata: objectKey,
  data: { color: 'old' },
  ...change,
});
const allowed = (annotations: Record<string, string>, data: Record<string, string>): ConfigMap => ({
  metadata: { ...objectKey, annotations: { [ALLOWED]: 'true', ...annotations } },
  data,
});
const guestObject = (data: Record<string, string>): ConfigMap =>
  allowed({ [`${PREFIX}hash`]: desired.hash ?? '', [`${PREFIX}keys`]: 'color', [`${PREFIX}uid`]: 'my-uid' }, data);

const rules: ContentPolicy<SampleView, string> = { claim: sampleClaim, adopt: true, recreate: true };

function planned(object: ConfigMap | undefined, change: Partial<typeof rules> = {}, wanted: Desired = desired): string {
  const plan = planContent(sample, object && sample.viewOf(storedAs(object)), wanted, { ...rules, ...change });
  if (plan.step === 'write') return `write ${plan.cause}`;
  if (plan.step !== 'stop') return plan.step;
  return plan.reason === 'refused' ? `refused: ${plan.refused}` : `stop ${plan.reason}`;
}

type Row = [what: string, object: ConfigMap | undefined, policy: Partial<typeof rules>, plan: string];

describe('planContent', () => {
  it.each<Row>([
    ['creates a missing object', undefined, {}, 'create'],
    ['keeps an object in the desired state', written(), {}, 'keep'],
    ['writes outdated content', written(older), {}, 'write desired'],
    ['repairs content that another client changed', written(desired, { data: { color: 'green' } }), {}, 'write drift'],
    ['repairs content that another client removed', written(desired, { data: {} }), {}, 'write drift'],
    [
      'waits for an object that is being deleted',
      { ...written(), metadata: { ...written().metadata, deletionTimestamp: at } },
      {},
      'stop terminating',
    ],
    [
      'keeps changed content with drift: stop',
      written(desired, { data: { color: 'green' } }),
      { drift: 'stop' },
      'stop drift',
    ],
    [
      'keeps changed content with drift: stop even if the desired content changes',
      written(older, { data: { color: 'green' } }),
      { drift: 'stop' },
      'stop drift',
    ],
    [
      'writes outdated content that no other client changed, with drift: stop',
      written(older),
      { drift: 'stop' },
      'write desired',
    ],
    [
      'ends a conflict when the stored content equals the desired content',
      written(older, { data: { color: 'red' } }),
      { drift: 'stop' },
      'mark',
    ],
    [
      'overwrites changed content when forced',
      written(desired, { data: { color: 'green' } }),
      { drift: 'stop', force: true },
      'write drift',
    ],
    [
      'keeps keys of other clients',
      written(desired, { data: { color: 'red', theirs: '1' } }),
      { keys: 'written' },
      'keep',
    ],
    [
      'repairs its own keys next to those of other clients',
      written(desired, { data: { color: 'x', theirs: '1' } }),
      { keys: 'written' },
      'write drift',
    ],
    ['recreates an immutable object that we created', written(older, { immutable: true }), {}, 'recreate'],
    [
      'does not recreate an immutable object unless the policy allows it',
      written(older, { immutable: true }),
      { recreate: false },
      'stop immutable',
    ],
    ['keeps an immutable object in the desired state', written(desired, { immutable: true }), {}, 'keep'],
    ['never recreates an adopted object', adopted(older, { immutable: true }), {}, 'stop immutable'],
    ['writes an adopted object', adopted(older), {}, 'write desired'],
    ['adopts an object of another client', foreign(), {}, 'adopt'],
    [
      'adopts an object that has only the label of our manager',
      foreign({ metadata: { ...objectKey, labels: { [MANAGED_BY]: MANAGER } } }),
      {},
      'adopt',
    ],
    ['adopts nothing unless the policy allows it', foreign(), { adopt: false }, 'stop exists'],
    ['cannot adopt an immutable object', foreign({ immutable: true }), {}, 'stop immutable'],
    [
      'adopts an immutable object that has the desired content',
      foreign({ immutable: true, data: { color: 'red' } }),
      {},
      'adopt',
    ],
    [
      'does not adopt an object of another controller',
      foreign({
        metadata: {
          ...objectKey,
          ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u', controller: true }],
        },
      }),
      {},
      'stop controlled',
    ],
    [
      'does not change an object that the operator refuses',
      withMetadata({ labels: { [OWNER]: 'them' } }),
      {},
      'refused: it belongs to them',
    ],
    [
      'takes over an object that a former owner of the same name left behind',
      withMetadata({ annotations: { [`${PREFIX}uid`]: 'earlier' } }),
      {},
      'mark',
    ],
    [
      'adopts such an object, saving its content, if another client changed it',
      withMetadata({ annotations: { [`${PREFIX}uid`]: 'earlier' } }, written(desired, { data: { color: 'x' } })),
      {},
      'adopt',
    ],
    ['takes over an object whose owner no longer exists', withMetadata({ labels: { [OWNER]: 'gone' } }), {}, 'mark'],
    ['accepts the label of any of our managers', withMetadata({ labels: { [MANAGED_BY]: 'before' } }), {}, 'keep'],
    ['writes a guest’s keys for the first time', allowed({}, { theirs: '1' }), {}, 'write drift'],
    ['keeps a guest’s keys regardless of other keys', guestObject({ color: 'red', theirs: '1' }), {}, 'keep'],
    ['repairs a guest’s keys', guestObject({ color: 'x', theirs: '1' }), {}, 'write drift'],
    [
      'does not change an immutable object as a guest',
      { ...guestObject({ color: 'x' }), immutable: true },
      {},
      'stop immutable',
    ],
  ])('%s', (_, object, policy, plan) => {
    expect(planned(object, policy)).toBe(plan);
  });

  it('writes only labels and annotations when only those change', () => {
    const tagged = (tag?: string) =>
      desiredSample({ data: { color: 'red' } }, { metadata: { labels: tag ? { tag } : {}, annotations: {} } });
    const plans = [
      [undefined, '1'],
      ['1', undefined],
      ['1', '2'],
      ['1', '1'],
    ].map(([from, to]) => planned(written(tagged(from)), {}, tagged(to)));
    expect(plans).toEqual(['mark', 'mark', 'mark', 'keep']);
  });

  it('compares the annotations of the operator, large ones by hash, but not passive or omitted ones', () => {
    const desiredWith = (wanted: Parameters<typeof desiredSample>[1]) =>
      desiredSample({ data: { color: 'red' } }, wanted);
    const all = { uid: 'my-uid', version: '1', large: 'l'.repeat(100_000) };
    const object = written(desiredWith({ operatorAnnotations: all, passiveAnnotations: { dropped: 'a' } }));
    const plans = [
      desiredWith({ operatorAnnotations: all, passiveAnnotations: { dropped: 'b' } }),
      desiredWith({ operatorAnnotations: { uid: 'my-uid' } }),
      desiredWith({ operatorAnnotations: { ...all, version: '2' } }),
      desiredWith({ operatorAnnotations: { ...all, version: null } }),
      desiredWith({ operatorAnnotations: { ...all, large: 'other' } }),
    ].map((wanted) => planned(object, {}, wanted));
    expect(plans).toEqual(['keep', 'keep', 'mark', 'mark', 'mark']);
    expect(JSON.stringify(sample.viewOf(object)).length).toBeLessThan(2_000);
  });

  it('makes an object immutable once', () => {
    const immutable = desiredSample({ data: { color: 'red' } }, { immutable: true });
    expect([planned(written(), {}, immutable), planned(written(immutable), {}, immutable)]).toEqual(['mark', 'keep']);
  });

  it('does not write content that is omitted', () => {
    const withoutContent = sample.desired({
      labels: { [OWNER]: 'me' },
      operatorAnnotations: { uid: 'my-uid', version: '2' },
    });
    expect(planned(written(desired, { data: { color: 'green' } }), {}, withoutContent)).toBe('mark');
  });
});
