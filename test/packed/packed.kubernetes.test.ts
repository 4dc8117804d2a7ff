import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeKubeconfig } from '@bowline/control-plane';
import { type Cluster, cluster } from '@bowline/control-plane/testing';
import {
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  CustomResourceDefinition,
  type KubernetesObject,
  keyOf,
  Namespace,
  type Resource,
  Role,
  RoleBinding,
  resource,
  ServiceAccount,
} from '@bowline/kubernetes';
import { expect, it } from 'vitest';
import { repositoryRoot } from '../../scripts/repository.ts';
import { secondNode } from '../../scripts/second-node.ts';
import { npm, packPackages } from '../support/packed-packages.ts';

/** The examples that are programs. The example of the guide is a separate project, which test/guide runs. */
const EXAMPLES = ['ten-lines', 'copy'];

/** A separate API group: the tests of the examples run at the same time, and their operators must not see these objects. */
const group = 'packed.bowline.dev';
const Greeting = resource<KubernetesObject & { spec?: object }>()({
  group,
  version: 'v1',
  kind: 'Greeting',
  plural: 'greetings',
  scope: 'Namespaced',
});

/** A user's project: the packed packages are installed, with the sources of the examples, for a namespace of the test. */
function makeProject(folder: string, namespace: string): void {
  const files = packPackages(folder, ['kubernetes', 'machinery', 'runtime']);
  const dependencies = Object.fromEntries(Object.entries(files).map(([name, file]) => [name, `file:${file}`]));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', private: true, dependencies }));
  npm(folder, 'install', '--silent', '--no-audit', '--no-fund', '--prefer-offline');

  for (const example of EXAMPLES) {
    const source = join(repositoryRoot, 'docs/examples', example);
    mkdirSync(join(folder, 'src', example), { recursive: true });
    for (const file of readdirSync(source).filter((name) => /(?<!\.test)\.ts$/.test(name))) {
      const text = readFileSync(join(source, file), 'utf8');
      const here = text.replaceAll('example.com', group).replaceAll('example-system', namespace);
      writeFileSync(join(folder, 'src', example, file), here);
    }
  }
  const compilerOptions = {
    module: 'NodeNext',
    target: 'ES2022',
    lib: ['ES2023', 'ESNext.Disposable'],
    strict: true,
    rewriteRelativeImportExtensions: true,
    rootDir: 'src',
    outDir: 'out',
    types: ['node'],
    typeRoots: [join(repositoryRoot, 'node_modules/@types')],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['src'] }));
}

/** whileRunning runs the program of an example until the work is done, and checks that it exits with 0. */
async function whileRunning(folder: string, example: string, node: string, work: () => Promise<void>): Promise<void> {
  const running = spawn(node, [join(folder, 'out', example, 'main.js')], {
    env: {
      ...process.env,
      KUBECONFIG: join(folder, 'kubeconfig'),
      HEALTH_ADDRESS: '0',
      METRICS_ADDRESS: '0',
      NODE_OPTIONS: '',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(running, 'close');
  try {
    await work();
  } finally {
    running.kill('SIGTERM');
  }
  expect(await ended).toEqual([0, null]);
}

async function greets(c: Cluster, name: string): Promise<void> {
  await expect
    .poll(() => c.admin.create(Greeting, { metadata: { namespace: c.namespace, name }, spec: {} }), {
      timeout: 40_000,
      interval: 250,
    })
    .toMatchObject({ metadata: { name } });
  // The API server's admission discovers new kinds only every 30 s, and rejects their objects as owners until then.
  const { data } = await c.until(ConfigMap, { name }, () => true, { timeoutMs: 120_000 });
  expect(data).toEqual({ text: 'hello, world' });
}

async function copies(c: Cluster): Promise<void> {
  const target = await c.createNamespace('packed-target');
  const labels = { [`${group}/copy-to`]: target };
  await c.admin.create(ConfigMap, { metadata: { namespace: c.namespace, name: 'settings', labels }, data: { a: '1' } });
  const { data } = await c.until(ConfigMap, { namespace: target, name: 'settings' }, () => true);
  expect(data).toEqual({ a: '1' });
}

/** The kinds of the manifests that examples print. */
const PRINTED: readonly Resource<KubernetesObject>[] = [
  Namespace,
  CustomResourceDefinition,
  ServiceAccount,
  ClusterRole,
  ClusterRoleBinding,
  Role,
  RoleBinding,
];

/** applies checks with a server-side dry run that the manifests printed by a program can be applied, and returns their kinds. */
async function applies(c: Cluster, printed: string): Promise<readonly string[]> {
  const { items } = JSON.parse(printed) as { items: readonly KubernetesObject[] };
  const writes = { fieldManager: 'packed', dryRun: true };
  const kinds: string[] = [];
  for (const object of items) {
    const kind = PRINTED.find((each) => each.kind === object.kind);
    if (!kind) throw new Error(`unexpected ${object.kind} in the manifests`);
    await c.admin.patch(kind, keyOf(object), { type: 'apply', body: object }, writes);
    kinds.push(kind.kind);
  }
  return kinds;
}

it('the packed packages install into an empty project, where the examples type-check, print manifests that apply, and run on both Nodes', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'bowline-packed-'));
  try {
    await using c = await cluster({ prefix: 'packed' });
    makeProject(folder, c.namespace);
    // The compiler takes a third less time on the current LTS than on the oldest supported Node.
    execFileSync(secondNode().program, [join(repositoryRoot, 'node_modules/typescript/bin/tsc'), '-p', folder], {
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    await writeKubeconfig(join(folder, 'kubeconfig'), await c.kubeconfig('admin'));

    const printing = [join(folder, 'out/ten-lines/main.js'), 'manifests'];
    const printed = execFileSync(process.execPath, printing, { encoding: 'utf8' });
    expect(await applies(c, printed)).toEqual(PRINTED.map(({ kind }) => kind));

    await whileRunning(folder, 'copy', process.execPath, async () => {
      await Promise.all([copies(c), whileRunning(folder, 'ten-lines', process.execPath, () => greets(c, 'first'))]);
    });
    await whileRunning(folder, 'ten-lines', secondNode().program, () => greets(c, 'second'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, 300_000);
