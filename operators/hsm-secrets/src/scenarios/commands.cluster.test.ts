import { Readable } from 'node:stream';
import { ConfigMap, RoleBinding, Secret } from '@bowline/kubernetes';
import { createLog } from '@bowline/runtime/manager';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { temporaryFiles } from '../../../../apps/bowline/src/testing/child-process.test-support.ts';
import { bowline } from '../../../../apps/bowline/src/testing/test-operators.test-support.ts';
import { HSMDevice } from '../api/hsm-device.ts';
import { ALL, type ApiCluster, apiCluster, inBase64, PIN_SECRET } from '../http-api/api-cluster.test-support.ts';
import { API_CONFIG_MAP } from '../http-api/api-location.ts';
import { hsmSecrets } from '../operator.ts';
import { DEVICE } from '../testing/secrets-cluster.test-support.ts';

const VALUE = 'canary-Qx3-walking-the-dog';
const NEW_PIN = '55443322116';
const registry = {
  'hsm-secrets': { summary: 'HSM', kubectlPlugin: hsmSecrets.kubectlPlugin, load: () => Promise.resolve(hsmSecrets) },
};

const lines: string[] = [];
let c: ApiCluster;
let files: Awaited<ReturnType<typeof temporaryFiles>>;
let kubeconfig: string;

beforeAll(async () => {
  c = await apiCluster({ log: createLog({ level: 'debug', destination: { write: (line) => void lines.push(line) } }) });
  files = await temporaryFiles();
  kubeconfig = await files.write('kubeconfig', JSON.stringify(await c.kubeconfig('admin')));
  const { namespace } = c;
  await c.admin.create(Secret, { metadata: { namespace, name: PIN_SECRET }, data: inBase64({ pin: '648219' }) });
  // As an administrator lets the account of the command line use a device.
  const pinAccess = { apiGroups: [''], resources: ['secrets'], verbs: ['update'], resourceNames: [PIN_SECRET] };
  const { name } = await c.account(ALL, [pinAccess]);
  await c.admin.create(RoleBinding, {
    metadata: { namespace, name: 'cli' },
    subjects: [{ kind: 'ServiceAccount', namespace: c.managerNamespace, name: c.location.serviceAccount ?? '' }],
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
  });
}, 60_000);

afterAll(async () => {
  await files[Symbol.asyncDispose]();
  await c[Symbol.asyncDispose]();
});

interface Given {
  readonly answers?: readonly string[];
  readonly hidden?: readonly string[];
  readonly stdin?: string;
  readonly invokedBy?: string;
}

function run(args: readonly string[], { answers = [], hidden = [], stdin = '', invokedBy }: Given = {}) {
  const [open, secret] = [[...answers], [...hidden]];
  const operator = invokedBy === undefined ? ['hsm-secrets'] : [];
  return bowline([...operator, ...args, '--kubeconfig', kubeconfig, '-n', c.managerNamespace], {
    registry,
    ...(invokedBy === undefined ? {} : { invokedBy }),
    ask: () => Promise.resolve(open.shift()),
    askHidden: () => Promise.resolve(secret.length > 0 ? Buffer.from(secret.shift() ?? '') : 'no-terminal'),
    stdin: () => Readable.from([Buffer.from(stdin)]),
  });
}

it('scenario 37: finds a device by its name', async () => {
  // Other tests have devices too.
  const name = `only-in-${c.namespace}`;
  await c.createDevice(name, { discovery: { usb: [{ vendorId: '20a0', productId: '4230' }] } });
  expect(await run(['devices', '--device', name])).toEqual({ code: 0, out: '', err: 'There are no devices.\n' });
  await c.admin.delete(HSMDevice, { namespace: c.namespace, name });
  const { code, err } = await run(['devices', '--device', `absent-in-${c.namespace}`]);
  expect([code, err]).toEqual([2, expect.stringContaining('kubectl get hsmdevices -A lists them')]);
});

it('fails if only some devices did what was requested', async () => {
  const device = { namespace: c.namespace, name: DEVICE };
  const [, second] = c.agents.agentsOf(device) as typeof c.devices;
  if (!second) throw new TypeError('there is no second device');
  c.agents.stop(device, second);
  const { code, out, err } = await run(['retry-pin']);
  expect([code, out]).toEqual([1, '']);
  expect(err).toContain('1 of 2 devices are logged in');
  c.agents.add(device, second.serialNumber, second.token);
  expect((await run(['retry-pin'])).code).toBe(0);
});

it('scenario 37: creates, shows, renames, replaces and deletes a secret', async () => {
  const pem = await files.write('tls.pem', 'certificate');
  const json = await files.write('values.json', JSON.stringify({ user: 'ann', port: 5432 }));
  expect(await run(['list'])).toEqual({ code: 0, out: '', err: 'There are no secrets.\n' });
  const dry = await run(['create', 'team/db', '--from-literal', `password=${VALUE}`, '--dry-run']);
  expect(dry).toEqual({ code: 0, out: 'would write team/db with password (26 bytes)\n', err: '' });
  const args = [
    '--from-literal',
    `password=${VALUE}`,
    '--from-file',
    pem,
    '--from-file',
    'in=-',
    '--from-json-file',
    json,
  ];
  expect(await run(['create', 'team/db', ...args], { stdin: 'piped' })).toEqual({
    code: 0,
    out: 'the secret team/db was created\n',
    err: '',
  });
  const again = await run(['create', 'team/db', '--from-literal', 'a=b']);
  expect(again).toMatchObject({ code: 2, out: '', err: expect.stringContaining('pass --replace to replace it') });

  const shown = await run(['get', 'team/db']);
  expect(shown.out).toBe('KEY        BYTES\nin         5\npassword   26\nport       4\ntls.pem    11\nuser       3\n');
  expect((await run(['get', 'team/db', '--key', 'port', '-o', 'json'])).out).toContain('"value": "5432"');
  expect((await run(['get', 'team/db', '--show-values'])).out).toContain(VALUE);
  expect((await run(['rename-key', 'team/db', 'in', 'from-stdin'])).out).toBe('in of team/db is now from-stdin\n');
  const listed = JSON.parse((await run(['list', 'team', '-o', 'json'])).out);
  expect(listed).toMatchObject([
    { path: 'team/db', version: 2, keys: ['from-stdin', 'password', 'port', 'tls.pem', 'user'] },
  ]);

  expect((await run(['create', 'team/db', '--from-literal', 'only=this', '--replace'])).code).toBe(0);
  expect((await run(['create', 'new', '--from-literal', 'only=this', '--replace'])).out).toContain('created');
  expect((await run(['list'], { invokedBy: '/usr/local/bin/kubectl-hsm' })).out).toMatch(/^PATH +KEYS/);
  expect((await run(['delete', 'new'], { answers: ['no'] })).out).toBe('nothing was deleted\n');
  expect((await run(['delete', 'new'], { answers: ['yes'] })).out).toContain('the secret new was deleted');
  expect((await run(['delete', 'team/db', '--yes'])).code).toBe(0);
  expect((await run(['get', 'team/db'])).err).toContain('does not exist');
}, 60_000);

it('asks for keys and values, and for a new PIN, without displaying them', async () => {
  const created = await run(['create', 'asked', '--interactive'], { answers: ['token', ''], hidden: [VALUE] });
  expect(created).toEqual({ code: 0, out: 'the secret asked was created\n', err: '' });
  expect((await run(['get', 'asked', '--key', 'token', '-o', 'yaml'])).out).toContain(`value: ${VALUE}`);
  expect(await run(['rotate-pin'], { hidden: [NEW_PIN] })).toEqual({
    code: 0,
    out: 'the PIN was changed on 2 devices\n',
    err: '',
  });
  const { data } = await c.admin.get(Secret, { namespace: c.namespace, name: PIN_SECRET });
  expect(data).toEqual(inBase64({ pin: NEW_PIN }));
  expect(lines.join('\n')).not.toContain(VALUE);
  expect(lines.join('\n')).not.toContain(NEW_PIN);
});

it('shows devices and their health, and compares them', async () => {
  const { out } = await run(['devices', '--device', `${c.namespace}/${DEVICE}`]);
  expect(out.split('\n').map((line) => line.split(/ {2,}/))).toMatchObject([
    ['SERIAL', 'NODE', 'AVAILABLE', 'HEALTH', 'ROLE', 'AGENT'],
    ['S1', c.nodes[0], 'yes', 'Healthy', 'Primary', expect.anything()],
    ['S2', c.nodes[1], 'yes', 'Healthy', 'Mirror', expect.anything()],
    [''],
  ]);
  expect((await run(['health', '-o', 'json'])).out).toContain('"healthy": true');
  expect((await run(['mirror', 'sync', '--force'])).out).toContain('0 errors');
  expect((await run(['retry-pin'])).out).toBe('2 of 2 devices are logged in\n');
});

it.each([
  [['create', 'a/../b', '--from-literal', 'a=b'], 2, 'the path of a secret'],
  [['create', 'a'], 2, 'the secret has no values; pass --from-literal'],
  [['create', 'a', '--from-literal', VALUE], 2, '--from-literal number 1 is not key=value'],
  [['create', 'a', '--from-literal', `a/b=${VALUE}`], 2, 'the key "a/b" of --from-literal is not valid'],
  [['create', 'a', '--from-literal', `a=${VALUE}`, '--from-literal', 'a=b'], 2, 'the key a is given more than once'],
  [['create', 'a', '--from-json-file', '-'], 2, 'the content of --from-json-file is not JSON'],
  [['get', 'nothing'], 1, 'the secret "nothing" does not exist'],
  [['list', '--device', 'default'], 2, 'kubectl get hsmdevices -A'],
  [['list', '--device', 'default/nothing'], 1, 'may not list hsmdevices/secrets default/nothing'],
  [['list', '--service-account', 'default/default'], 1, 'system:serviceaccount:default:default may not list'],
  [['list', '--api-url', 'http://127.0.0.1:1'], 2, '--api-url'],
  [['list', '--api-url', 'https://127.0.0.1:1'], 1, 'cannot call the API at https://127.0.0.1:1 (ECONNREFUSED)'],
  [['delete', 'a'], 2, 'pass --yes'],
  [['rotate-pin'], 2, 'pass --pin-file'],
])('rejects %j with exit code %i and a hint, without printing a value', async (args, code, message) => {
  const result = await run(args, { stdin: `{"a": "${VALUE}` });
  expect(result).toMatchObject({ code, out: '' });
  expect(result.err).toContain(message);
  expect(result.err).not.toContain(VALUE);
});

it('explains how to reach an API that is served in the cluster, and how to enable one that is not', async () => {
  const key = { namespace: await c.createNamespace(), name: API_CONFIG_MAP };
  const list = () => bowline(['hsm-secrets', 'list', '--kubeconfig', kubeconfig, '-n', key.namespace], { registry });
  expect((await list()).err).toContain('set api.enabled for the operator');
  const url = `https://api.${key.namespace}.svc:8090`;
  const data = { ...c.location, url, service: 'hsm-api' };
  await c.admin.create(ConfigMap, { metadata: key, data });
  const account = ['--service-account', `${c.managerNamespace}/${c.location.serviceAccount}`];
  const { err } = await bowline(['hsm-secrets', 'list', '--kubeconfig', kubeconfig, '-n', key.namespace, ...account], {
    registry,
  });
  expect(err).toContain(`kubectl port-forward -n ${key.namespace} service/hsm-api 8090`);
  expect(err).toContain('--api-url https://127.0.0.1:8090');
});
