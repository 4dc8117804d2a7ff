import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Ask, valuesOf } from '../testing/jasm-cluster.test-support.ts';
import { type Scenario, startScenario } from './scenario.test-support.ts';

let c: Scenario;

beforeAll(async () => {
  c = await startScenario();
});
afterAll(() => c[Symbol.asyncDispose]());

interface BadAnnotation {
  readonly what: string;
  readonly ask: () => Ask;
  /** Defaults to AnnotationInvalid. */
  readonly reason?: 'ProviderUnsupported';
  /** Patterns for the message that the pod receives: the field, the problem and the remedy. */
  readonly says: readonly RegExp[];
}

const without = (field: string): Ask =>
  Object.fromEntries(Object.entries(c.fromAws('db')).filter(([name]) => name !== field));

const BAD: readonly BadAnnotation[] = [
  {
    what: 'malformed YAML',
    ask: () => 'provider: aws-secretsmanager\npath: [unclosed\nsecretName: db',
    says: [/^line 3: .*correct the YAML/],
  },
  { what: 'a list', ask: () => '- provider: aws-secretsmanager', says: [/must be a map/] },
  { what: 'nothing', ask: () => '', says: [/is empty; set provider, path and secretName/] },
  { what: 'no provider', ask: () => without('provider'), says: [/provider: Required value/] },
  { what: 'no path', ask: () => without('path'), says: [/path: Required value/] },
  { what: 'no secretName', ask: () => without('secretName'), says: [/secretName: Required value/] },
  { what: 'a path that is a number', ask: () => c.fromAws('db', { path: 42 }), says: [/path \(line 1\): .*string/] },
  {
    what: 'an unknown field',
    ask: () => c.fromAws('db', { secretname: 'x' }),
    says: [/secretname .*use secretName instead/],
  },
  {
    what: 'a namespace',
    ask: () => c.fromAws('db', { namespace: 'kube-system' }),
    says: [/namespace .*pod's own namespace/],
  },
  { what: 'an invalid path', ask: () => c.fromAws('db', { path: 'a b' }), says: [/path: .*a b/] },
  {
    what: 'an unknown provider',
    ask: () => c.fromAws('db', { provider: 'gcp' }),
    reason: 'ProviderUnsupported',
    says: [/gcp/, /aws-secretsmanager/, /azure-keyvault/, /kubernetes/, /vault/],
  },
  {
    what: 'the mock, which is not enabled',
    ask: () => c.fromAws('db', { provider: 'mock' }),
    reason: 'ProviderUnsupported',
    says: [/mock/],
  },
  {
    what: 'a bad secretName',
    ask: () => c.fromAws('db', { secretName: 'Not_A_Name' }),
    says: [/secretName \(line 1\): Invalid value/, /lowercase RFC 1123 subdomain/],
  },
  {
    what: 'an alias',
    ask: () => 'provider: &p aws-secretsmanager\npath: *p\nsecretName: db',
    says: [/anchor &p is not supported/],
  },
  {
    what: 'more than 64 KiB',
    ask: () => `# ${'x'.repeat(65_536)}\n${JSON.stringify(c.fromAws('db'))}`,
    says: [/at most 65536/],
  },
];

it('scenario 06 reports an invalid annotation to the pod, calls no store for it, and serves the pod after a correction', async () => {
  await c.aws.put(c.path('db'), { password: 'x' });
  const podOf = (index: number): string => `bad-${index}`;
  for (const [index, { ask }] of BAD.entries()) await c.ask(podOf(index), ask());
  for (const [index, { what, reason = 'AnnotationInvalid', says }] of BAD.entries()) {
    const { type, note = '' } = await c.untilEvent(podOf(index), reason);
    expect(type, what).toBe('Warning');
    for (const part of says) expect(note, what).toMatch(part);
    expect(await c.events(podOf(index)), what).toHaveLength(1);
  }
  await c.idle();
  expect(c.calls).toEqual([]);

  for (const index of BAD.keys()) await c.askAgain(podOf(index), c.fromAws('db', { secretName: podOf(index) }));
  for (const index of BAD.keys()) expect(valuesOf(await c.untilSecret(podOf(index)))).toEqual({ password: 'x' });
});

it('scenario 06 serves the valid entries of a list', async () => {
  await c.aws.put(c.path('good'), { password: 'x' });
  const bad = c.fromAws('other', { secretName: 'Not_A_Name' });
  await c.ask('mixed', { secrets: [bad, c.fromAws('good')] });
  expect((await c.untilEvent('mixed', 'AnnotationInvalid')).note).toMatch(/secrets\[0\]\.secretName/);
  await c.untilSecret('good');
  expect(c.callsFor('other')).toEqual([]);
});

it('scenario 06 keeps the Secret of a pod whose annotation becomes invalid', async () => {
  await c.aws.put(c.path('kept'), { password: 'x' });
  await c.ask('kept', c.fromAws('kept'));
  const { metadata } = await c.untilSecret('kept');
  await c.askAgain('kept', 'not an annotation');
  await c.untilEvent('kept', 'AnnotationInvalid');
  await c.pass(600_000);
  expect((await c.untilSecret('kept')).metadata?.resourceVersion).toBe(metadata?.resourceVersion);
  expect(c.callsFor('kept')).toEqual(['GetSecretValue']);
});
