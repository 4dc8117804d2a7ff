import { describe, expect, it } from 'vitest';
import { BowlineError } from '../errors/bowline-error.ts';
import type { ConditionUpdate } from '../writing/conditions.ts';
import { at, stored, update } from '../writing/sample-conditions.test-support.ts';
import { slow, terminal } from './reconcile-error.ts';
import { StatusDraft, type StatusLike } from './status-collector.ts';
import { type ReconcileOutcome, summarize } from './summary.ts';

/** kstatus returns what tools conclude from the conditions of a kind that they do not know. */
function kstatus(updates: readonly ConditionUpdate[]): string {
  const is = (type: string): ConditionUpdate['status'] => updates.find((each) => each.type === type)?.status;
  if (is('Reconciling') === true) return 'InProgress';
  if (is('Stalled') === true) return 'Failed';
  return is('Ready') === true || is('Ready') === 'True' ? 'Current' : 'InProgress';
}

describe('summarize', () => {
  const ready = (status: ConditionUpdate['status']): ConditionUpdate[] => [
    update({ type: 'Ready', status, reason: 'Said' }),
  ];
  const failed = (error: unknown): ReconcileOutcome => ({ type: 'failed', error });
  const plain = new BowlineError('BOWLINE_API_INTERNAL', 'the server failed');

  it.each<
    [what: string, said: ConditionUpdate[], outcome: ReconcileOutcome, ready: unknown, reason: string, verdict: string]
  >([
    ['a reconcile that sets nothing and is done', [], { type: 'done' }, true, 'Reconciled', 'Current'],
    ['one that sets nothing and waits', [], { type: 'waiting' }, false, 'Progressing', 'InProgress'],
    ['one that sets Ready to False', ready(false), { type: 'done' }, false, 'Said', 'InProgress'],
    ['one that is ready and requeues', ready('True'), { type: 'done' }, 'True', 'Said', 'Current'],
    ['a failure that is retried', [], failed(plain), false, 'ReconcileFailed', 'InProgress'],
    ['a terminal failure', [], failed(terminal('BadName', 'spec.name is bad')), false, 'BadName', 'Failed'],
    [
      'a failure that is retried slowly',
      [],
      failed(slow('NotThere', 'not available yet')),
      false,
      'NotThere',
      'InProgress',
    ],
    ['a failure after it set Ready to True', ready(true), failed(plain), false, 'ReconcileFailed', 'InProgress'],
    ['a failure after it set Ready to False', ready(false), failed(plain), false, 'Said', 'InProgress'],
  ])('summarizes %s', (_, reported, outcome, status, reason, verdict) => {
    const updates = summarize(reported, outcome);
    expect(updates[0]).toMatchObject({ type: 'Ready', status, reason });
    expect(kstatus(updates)).toBe(verdict);
  });

  it('does not show messages of unknown errors, which may contain secrets', () => {
    const [condition] = summarize([], failed(new Error('token hunter2 refused')));
    expect(condition?.message).not.toContain('hunter2');
  });

  it('keeps a Reconciling condition that the reconcile set itself', () => {
    const rollout = update({ type: 'Reconciling', status: true, reason: 'RollingOut' });
    expect(kstatus(summarize([rollout], { type: 'done' }))).toBe('InProgress');
  });
});

describe('StatusDraft', () => {
  it('uses the last update of a condition, and changes its transition time once', () => {
    const draft = new StatusDraft<StatusLike>();
    draft.condition('Available', false, 'Starting', 'it starts');
    draft.condition('Available', true, 'Running', 'it runs');
    expect(draft.applyTo({ conditions: [stored] }, at)).toEqual({ conditions: [stored], observedGeneration: 2 });
  });

  it('sets and removes fields, and keeps those of others', () => {
    const draft = new StatusDraft<StatusLike & { a?: number; b?: number; c?: number }>();
    expect(draft.isEmpty).toBe(true);
    draft.set({ a: 1 });
    draft.set({ b: undefined });
    expect(draft.isEmpty).toBe(false);
    expect(draft.applyTo({ b: 2, c: 3 }, { now: at.now, generation: undefined })).toEqual({ a: 1, b: undefined, c: 3 });
  });

  it('removes conditions of a failure after a successful reconcile', () => {
    const failing = new StatusDraft<StatusLike>().applyTo(undefined, {
      ...at,
      outcome: { type: 'failed', error: terminal('Bad', 'bad') },
    });
    expect(failing.conditions?.map(({ type, status }) => `${type}=${status}`)).toEqual(['Ready=False', 'Stalled=True']);
    const fine = new StatusDraft<StatusLike>().applyTo(failing, { ...at, outcome: { type: 'done' } });
    expect(fine.conditions?.map(({ type, status }) => `${type}=${status}`)).toEqual(['Ready=True']);
  });
});
