import { afterAll, beforeAll, expect, it } from 'vitest';
import { type RequestEntry, valuesOf } from '../testing/jasm-cluster.test-support.ts';
import { type Scenario, startScenario } from './scenario.test-support.ts';

let c: Scenario;

beforeAll(async () => {
  c = await startScenario();
});
afterAll(() => c[Symbol.asyncDispose]());

interface BadAnnotation {
  readonly title: string;
  readonly ask: () => RequestEntry;
  /** Defaults to AnnotationInvalid. */
  readonly reason?: 'ProviderUnsupported';
  /** Patterns for the message that the pod receives: the field, the problem and the remedy. */
  readonly message: readonly RegExp[];
}

const without = (field: string): RequestEntry =>
  Object.fromEntries(Object.entries(c.fromAws('db')).filter(([name]) => name !== field));

const BAD: readonly BadAnnotation[] = [
  {
    title: 'malformed YAML',
    ask: () => 'provider: aws-secretsmanager\npath: [unclosed\nsecretName: db',
    message: [/^line 3: .*correct the YAML/],
  },
  { title: 'a list', ask: () => '- provider: aws-secretsmanager', message: [/must be a map/] },
  { title: 'nothing', ask: () => '', message: [/is empty; set provider, path and secretName/] },
  { title: 'no provider', ask: () => without('provider'), message: [/provider: Required value/] },
  { title: 'no path', ask: () => without('path'), message: [/path: Required value/] },
  { title: 'no secretName', ask: () => without('secretName'), message: [/secretName: Required value/] },
  {
    title: 'a path that is a number',
    ask: () => c.fromAws('db', { path: 42 }),
    message: [/path \(line 1\): .*string/],
  },
  {
    title: 'an unknown field',
    ask: () => c.fromAws('db', { secretname: 'x' }),
    message: [/secretname .*use secretName instead/],
  },
  {
    title: 'a namespace',
    ask: () => c.fromAws('db', { namespace: 'kube-system' }),
    message: [/namespace .*pod's own namespace/],
  },
  { title: 'an invalid path', ask: () => c.fromAws('db', { path: 'a b' }), message: [/path: .*a b/] },
  {
    title: 'an unknown provider',
    ask: () => c.fromAws('db', { provider: 'gcp' }),
    reason: 'ProviderUnsupported',
    message: [/gcp/, /aws-secretsmanager/, /azure-keyvault/, /kubernetes/, /vault/],
  },
  {
    title: 'the mock, which is not enabled',
    ask: () => c.fromAws('db', { provider: 'mock' }),
    reason: 'ProviderUnsupported',
    message: [/mock/],
  },
  {
    title: 'a bad secretName',
    ask: () => c.fromAws('db', { secretName: 'Not_A_Name' }),
    message: [/secretName \(line 1\): Invalid value/, /lowercase RFC 1123 subdomain/],
  },
  {
    title: 'an alias',
    ask: () => 'provider: &p aws-secretsmanager\npath: *p\nsecretName: db',
    message: [/anchor &p is not supported/],
  },
  {
    title: 'more than 64 KiB',
    ask: () => `# ${'x'.repeat(65_536)}\n${JSON.stringify(c.fromAws('db'))}`,
    message: [/at most 65536/],
  },
];

it('scenario 06 reports an invalid annotation to the pod, calls no store for it, and serves the pod after a correction', async () => {
  await c.aws.put(c.path('db'), { password: 'x' });
  const podOf = (index: number): string => `bad-${index}`;
  for (const [index, { ask }] of BAD.entries()) await c.createPod(podOf(index), ask());
  for (const [index, { title, reason = 'AnnotationInvalid', message }] of BAD.entries()) {
    const { type, note = '' } = await c.untilEvent(podOf(index), reason);
    expect(type, title).toBe('Warning');
    for (const part of message) expect(note, title).toMatch(part);
    expect(await c.events(podOf(index)), title).toHaveLength(1);
  }
  await c.idle();
  expect(c.calls).toEqual([]);

  for (const index of BAD.keys()) await c.changeRequest(podOf(index), c.fromAws('db', { secretName: podOf(index) }));
  for (const index of BAD.keys()) expect(valuesOf(await c.untilSecret(podOf(index)))).toEqual({ password: 'x' });
});

it('scenario 06 serves the valid entries of a list', async () => {
  await c.aws.put(c.path('good'), { password: 'x' });
  const bad = c.fromAws('other', { secretName: 'Not_A_Name' });
  await c.createPod('mixed', { secrets: [bad, c.fromAws('good')] });
  expect((await c.untilEvent('mixed', 'AnnotationInvalid')).note).toMatch(/secrets\[0\]\.secretName/);
  await c.untilSecret('good');
  expect(c.callsFor('other')).toEqual([]);
});

it('scenario 06 keeps the Secret of a pod whose annotation becomes invalid', async () => {
  await c.aws.put(c.path('kept'), { password: 'x' });
  await c.createPod('kept', c.fromAws('kept'));
  const { metadata } = await c.untilSecret('kept');
  await c.changeRequest('kept', 'not an annotation');
  await c.untilEvent('kept', 'AnnotationInvalid');
  await c.advanceTime(600_000);
  expect((await c.untilSecret('kept')).metadata?.resourceVersion).toBe(metadata?.resourceVersion);
  expect(c.callsFor('kept')).toEqual(['GetSecretValue']);
});
