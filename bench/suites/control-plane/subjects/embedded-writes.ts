// Sequential writes to an embedded control plane in the same process: nothing waits, so this measures only work.
import { setTimeout } from 'node:timers/promises';
import { orders, report, subjectInput } from '../../../support/subject.ts';
import { smallConfigMap } from '../small-config-map.ts';
import { startInProcess } from './start-in-process.ts';

const { options } = subjectInput();
const count = Number(options.writes);
const controlPlane = await startInProcess(false);
const transport = await controlPlane.transport('admin');
const collection = '/api/v1/namespaces/default/configmaps';

async function send(method: 'POST' | 'PUT', path: string, body: string): Promise<void> {
  const headers = { 'content-type': 'application/json', accept: 'application/json', 'user-agent': 'bowline-bench' };
  const response = await transport.request({ method, path, body, headers, lane: 'call' });
  const text = await response.text();
  if (response.status >= 300) throw new Error(`${method} ${path} returned ${response.status}: ${text}`);
}

const POLICIES = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';
const BINDINGS = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings';

/** createPolicy creates a policy for a kind that is not written here. */
async function createPolicy(name: string): Promise<void> {
  const rule = { operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] };
  const spec = { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: 'has(object.metadata)' }] };
  await send('POST', POLICIES, JSON.stringify({ metadata: { name }, spec }));
  const binding = { policyName: name, validationActions: ['Deny'] };
  await send('POST', BINDINGS, JSON.stringify({ metadata: { name }, spec: binding }));
}

for (let index = 0; index < Number(options.policies); index += 1) await createPolicy(`bench-${index}`);

// Enough for the controllers to list all kinds and to watch them.
if (options.settles === 1) await setTimeout(1_000);

report({ ready: true });
for await (const line of orders()) {
  const [order = '', called = '', revision = ''] = line.split(' ');
  const names = Array.from({ length: count }, (_, index) => `${called}-${index}`);
  const bodies = names.map((name) => JSON.stringify(smallConfigMap({ name, namespace: 'default' }, revision)));
  const start = performance.now();
  const cpu = process.cpuUsage();
  for (const [index, name] of names.entries()) {
    const body = bodies[index] ?? '';
    if (order === 'create') await send('POST', `${collection}?fieldManager=bowline-bench`, body);
    else await send('PUT', `${collection}/${name}?fieldManager=bowline-bench`, body);
  }
  const { user, system } = process.cpuUsage(cpu);
  report({ ms: performance.now() - start, cpuMs: (user + system) / 1_000 });
}
await transport.close();
await controlPlane.stop();
