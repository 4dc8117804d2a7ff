import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { CR_ANNOTATIONS } from '../../../operators/ignition-sync/src/api/names.ts';
import type { HostileRequest } from './hostile-request.ts';
import { type Case, problemsOf } from './judge.ts';
import { proof } from './proof.ts';
import { MODES, SECRETS } from './receiver-modes.ts';

const [mode] = MODES;
const body = Buffer.from('{"ref":"v2"}');
const signature = createHmac('sha256', SECRETS.hmac).update(body).digest('hex');
const signed: HostileRequest = {
  family: 'signed',
  method: 'POST',
  url: '/webhook/plant/site',
  headers: { 'x-hub-signature-256': `sha256=${signature}` },
  body,
};
const write = {
  key: { namespace: 'plant', name: 'site' },
  annotations: {
    [CR_ANNOTATIONS.requestedRef]: 'v2',
    [CR_ANNOTATIONS.requestedAt]: '2026-01-01T00:00:00Z',
    [CR_ANNOTATIONS.requestedBy]: 'generic',
  },
};
const accepted = { status: 202, headers: {}, body: { accepted: true, ref: 'v2' } };
const unauthorized = { status: 401, headers: {}, body: { accepted: false, message: 'unauthorized' } };

function judged(more: Partial<Case>): string[] {
  if (!mode) throw new Error('there is no mode');
  return problemsOf({ mode, request: signed, response: accepted, writes: [write], errors: [], ...more });
}

describe('the judge', () => {
  test('accepts a write of an authentic request, and the refusal of another', () => {
    expect(judged({})).toEqual([]);
    expect(judged({ request: { ...signed, headers: {} }, response: unauthorized, writes: [] })).toEqual([]);
  });

  test('detects a write without a valid signature', () => {
    expect(judged({ request: { ...signed, headers: {} } })).toContain('a write without a valid signature');
    expect(judged({ request: { ...signed, body: Buffer.from('{}') } })).toContain('a write without a valid signature');
  });

  test('detects a refused authentic request, a write that is not reported, and an unexpected status', () => {
    expect(judged({ response: unauthorized, writes: [] })).toEqual(['401 for an authentic request']);
    expect(judged({ response: { ...accepted, status: 200 } })).toEqual(['1 writes with status 200']);
    expect(judged({ response: { ...unauthorized, status: 500 }, writes: [] })).toContain('the status is 500');
    expect(judged({ errors: ['x'] })).toEqual(['logged an error: x']);
  });

  test.each([
    [CR_ANNOTATIONS.requestedRef, '--upload-pack=x'],
    [CR_ANNOTATIONS.requestedRef, '\ud800'],
    [CR_ANNOTATIONS.requestedBy, 'attacker'],
    [CR_ANNOTATIONS.requestedAt, 'now'],
    [CR_ANNOTATIONS.approvedCommit, 'a'.repeat(40)],
  ])('detects %s: %j', (name, value) => {
    expect(judged({ writes: [{ ...write, annotations: { ...write.annotations, [name]: value } }] })).not.toEqual([]);
  });

  test('detects a secret in a response, and a write to another IgnitionSync', () => {
    const leaking = { ...unauthorized, body: { accepted: false, message: SECRETS.hmac } };
    expect(judged({ request: { ...signed, headers: {} }, response: leaking, writes: [] })).toEqual([
      'the response contains a secret',
    ]);
    expect(judged({ writes: [{ ...write, key: { namespace: 'plant', name: 'own' } }] })).toEqual([
      'a write to another IgnitionSync',
    ]);
  });
});

test('a short run finds no violation', async () => {
  const { violations, facts } = await proof.run({ runs: 1_500, seed: 1, log: () => undefined });
  expect(violations).toEqual([]);
  for (const name of ['accepted', 'overHttp', 'brokenHttp']) expect(facts[name]).toBeGreaterThan(0);
});
