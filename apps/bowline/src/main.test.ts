import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { bundledProgram } from '../../../test/support/bundled-program.ts';
import { bowline, type CommandResult } from './testing/test-operators.test-support.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

async function spawned(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<CommandResult> {
  const child = spawn(process.execPath, [await bundledProgram('apps/bowline/src/main.ts'), ...args], {
    cwd: root,
    env: { ...process.env, ...env },
  });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  return await new Promise((resolve) => {
    child.once('close', (code) => resolve({ code: code ?? -1, out, err }));
  });
}

const start = ['control-plane', 'start', '--kubeconfig', 'unused'];

describe('bowline', { timeout: 60_000, concurrent: true }, () => {
  it('starts the programs of operators without the command line, and reports their errors as it does', async () => {
    const { code, out, err } = await spawned(['hsm-secrets', 'agent-worker']);
    expect([code, out]).toEqual([1, '']);
    expect(err).toContain('[BOWLINE_HSM_WORKER_WITHOUT_PARENT]');
    expect((await spawned(['hsm-secrets', 'agent', '--help'])).out).toContain('--library');
    expect((await spawned(['hsm-secrets', '--help'])).out).toContain('discovery');
  });

  it('shows its versions as JSON', async () => {
    const { code, out } = await spawned(['version', '-o', 'json']);
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
    expect(JSON.parse(out)).toEqual({
      version,
      node: process.versions.node,
      kubernetes: { oldest: '1.30', tested: '1.35.8' },
    });
    expect(code).toBe(0);
  });

  it('ends without an error when the reader of its output closes the pipe', async () => {
    const main = await bundledProgram('apps/bowline/src/main.ts');
    const child = spawn(process.execPath, [main, 'up', '--help'], { cwd: root });
    child.stdout.destroy();
    const err = child.stderr.setEncoding('utf8').toArray();
    const [code] = (await once(child, 'close')) as [number];
    expect([code, await err]).toEqual([0, []]);
  });

  it.each([
    [['up', '--operators', 'bagde'], 2, /unknown operator "bagde" \(did you mean badge\?\): --operators accepts badge/],
    [['up', '--timeout', 'soon'], 2, /'soon' is invalid\. Must be a duration such as 60s or 2m/],
    [['up', '--control-plane', 'minikube'], 2, /Allowed choices are embedded, kubernetes, current-context/],
    [[...start, '--kind', 'kubernetes', '--plain-http'], 2, /--plain-http is for the embedded control plane/],
    [[...start, '--kind', 'minikube'], 2, /'minikube' is invalid\. Allowed choices are embedded, kubernetes/],
    [[...start, '--kind', 'kubernetes', '--port', 'x'], 2, /'x' is invalid\. Must be an integer from 1 to 65535/],
    [[...start, '--kind', 'kubernetes', '--prot', '1'], 2, /unknown option '--prot'\n\(Did you mean --port\?\)/],
  ])('rejects %j with exit code %i and a hint', async (args, code, message) => {
    const ended = await bowline(args);
    expect(ended.err).toMatch(message);
    expect(ended.code).toBe(code);
  });

  it.each([
    ...[['run'], ['manifests'], ['crds'], ['uninstall'], ['version'], ['up'], ['badge'], ['badge', 'print']],
    ...[['control-plane'], ['control-plane', 'start'], ['control-plane', 'build']],
  ])('shows an example in the help of %s %s', async (...words) => {
    const { code, out } = await bowline([...words, '--help']);
    expect([code, out]).toEqual([0, expect.stringMatching(/Examples?:\n {2}bowline /)]);
  });

  it.each(['manifests', 'crds', 'uninstall', 'version', 'control-plane start', 'control-plane build'])(
    'prints the result of %s as a table, as JSON or as YAML',
    async (words) => {
      const { out } = await bowline([...words.split(' '), '--help']);
      expect(out.replace(/\s+/g, ' ')).toMatch(
        /-o, --output <format> output format \(choices: "table", "json", "yaml", default: "(table|yaml)"\)/,
      );
    },
  );

  it('shows its versions as a table and as YAML', async () => {
    const [json, yaml, table, unasked] = await Promise.all(
      [['-o', 'json'], ['-o', 'yaml'], ['-o', 'table'], []].map((args) => bowline(['version', ...args])),
    );
    expect(parse(yaml?.out ?? '')).toEqual(JSON.parse(json?.out ?? ''));
    expect(table?.out).toMatch(/^bowline \d.*\nnode \d.*\nkubernetes 1\.30 and later, tested with 1\.35\.8\n$/);
    expect(unasked).toEqual(table);
  });

  it('lists the ways to get binaries if they and Go are missing', async () => {
    const empty = await mkdtemp(join(tmpdir(), 'bowline-main-'));
    try {
      const env = { PATH: empty, XDG_CACHE_HOME: empty, KUBEBUILDER_ASSETS: '' };
      const { code, err } = await spawned(['control-plane', 'build', '--kind', 'kubernetes'], env);
      expect(err).toMatch(/^error: no Kubernetes binaries: .*install Go 1\.25.*\[BOWLINE_BINARIES_MISSING\]\n$/);
      expect(code).toBe(1);
    } finally {
      await rm(empty, { recursive: true, force: true });
    }
  });

  it('does not overwrite a kubeconfig that it did not write', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'bowline-main-'));
    try {
      const path = join(folder, 'config');
      await writeFile(path, 'apiVersion: v1\nkind: Config\n');
      const { code, err } = await bowline(['control-plane', 'start', '--kind', 'kubernetes', '--kubeconfig', path]);
      expect(err).toContain(`${path} exists and was not written by bowline; choose another file`);
      expect(code).toBe(1);
      expect(await readFile(path, 'utf8')).toBe('apiVersion: v1\nkind: Config\n');
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
