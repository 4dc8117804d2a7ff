import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeKubeconfig } from '@bowline/control-plane';
import { cluster } from '@bowline/control-plane/testing';
import { ConfigMap, type KubernetesObject, resource } from '@bowline/kubernetes';
import { expect, it } from 'vitest';
import { repositoryRoot } from '../../scripts/repository.ts';
import { secondNode } from '../../scripts/second-node.ts';
import { npm, packPackages } from '../support/packed-packages.ts';

const example = join(repositoryRoot, 'docs/examples/ten-lines');

/** A group of its own: the example's tests run beside this one, and their operator must not see these objects. */
const group = 'packed.bowline.dev';
const Greeting = resource<KubernetesObject & { spec?: object }>({
  group,
  version: 'v1',
  kind: 'Greeting',
  plural: 'greetings',
  scope: 'Namespaced',
  id: `Greeting.v1.${group}`,
});

/** A project of somebody else: the packed packages installed, the example's sources beside them. */
function makeProject(folder: string): void {
  const files = packPackages(folder, ['kubernetes', 'machinery', 'runtime']);
  const dependencies = Object.fromEntries(Object.entries(files).map(([name, file]) => [name, `file:${file}`]));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', private: true, dependencies }));
  npm(folder, 'install', '--silent', '--no-audit', '--no-fund');

  mkdirSync(join(folder, 'src'));
  for (const file of ['greeter.ts', 'greeting.ts']) {
    const source = readFileSync(join(example, file), 'utf8').replace('example.bowline.dev', group);
    writeFileSync(join(folder, 'src', file), source);
  }
  writeFileSync(
    join(folder, 'src/main.ts'),
    `import { runOperators } from '@bowline/runtime';
import { greeter } from './greeter.ts';
await runOperators({ operators: [greeter], env: process.env, install: true, healthAddress: '0', metricsAddress: '0' });
`,
  );
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

it('the packed packages install into an empty project, type-check there, and run the ten-line operator on both Nodes', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'bowline-packed-'));
  try {
    await using c = await cluster({ prefix: 'packed' });
    makeProject(folder);
    execFileSync(process.execPath, [join(repositoryRoot, 'node_modules/typescript/bin/tsc'), '-p', folder], {
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    const kubeconfig = join(folder, 'kubeconfig');
    await writeKubeconfig(kubeconfig, await c.kubeconfig('admin'));

    for (const [index, program] of [process.execPath, secondNode().program].entries()) {
      const running = spawn(program, [join(folder, 'out/main.js')], {
        env: { ...process.env, KUBECONFIG: kubeconfig, NODE_OPTIONS: '' },
        stdio: ['ignore', 'ignore', 'inherit'],
      });
      const ended = once(running, 'close');
      try {
        const name = `greeting-${index}`;
        await expect
          .poll(() => c.admin.create(Greeting, { metadata: { namespace: c.namespace, name }, spec: {} }), {
            timeout: 40_000,
            interval: 250,
          })
          .toMatchObject({ metadata: { name } });
        // The API server's admission learns of new kinds every 30 s only, and refuses their objects as owners until then.
        const { data } = await c.until(ConfigMap, { name }, () => true, { timeoutMs: 120_000 });
        expect(data).toEqual({ text: 'hello, world' });
      } finally {
        running.kill('SIGTERM');
      }
      expect(await ended).toEqual([0, null]);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, 300_000);
