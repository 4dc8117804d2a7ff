import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  ConfigMap,
  type DownwardAPIVolumeFile,
  type KeyToPath,
  PersistentVolume,
  PersistentVolumeClaim,
  type Pod,
  Secret,
  type Volume,
  type VolumeProjection,
} from '@bowline/kubernetes';
import { BowlineError } from '@bowline/runtime';
import type { Client } from '@bowline/runtime/client';
import { podField } from './pod-field.ts';
import { type ProjectedFile, writeProjection } from './write-projection.ts';

/** PodVolumesOptions configures where the volumes of a pod are, and how their content is read. */
export interface PodVolumesOptions {
  readonly pod: Pod;
  /** The folder of the pod: volumes that belong to it are below. */
  readonly folder: string;
  /** Reads what a kubelet reads: Secrets, ConfigMaps, claims and volumes. */
  readonly client: Pick<Client, 'find'>;
  /** Returns a token of the pod's ServiceAccount. */
  token(): Promise<string>;
}

const DEFAULT_MODE = 0o644;

/**
 * provideVolume makes a volume of a pod a folder, fills it and returns its path. Called again, it updates the files that a
 * kubelet updates: those of Secrets, ConfigMaps and fields of the pod.
 */
export async function provideVolume(volume: Volume, options: PodVolumesOptions): Promise<string> {
  const { name, emptyDir, projected, downwardAPI, persistentVolumeClaim, hostPath } = volume;
  if (hostPath !== undefined) return hostPath.path;
  if (persistentVolumeClaim !== undefined) return await claimFolder(persistentVolumeClaim.claimName, options);
  const folder = join(options.folder, name);
  if (emptyDir !== undefined) {
    await mkdir(folder, { recursive: true, mode: 0o700 });
  } else if (projected !== undefined) {
    const { sources = [], defaultMode = DEFAULT_MODE } = projected;
    const files = await Promise.all(sources.map((source) => projectedFiles(source, defaultMode, options)));
    await writeProjection(folder, files.flat());
  } else if (downwardAPI !== undefined) {
    const { items = [], defaultMode = DEFAULT_MODE } = downwardAPI;
    await writeProjection(folder, fieldFiles(items, defaultMode, options));
  } else {
    throw unsupported(options, `the type of its volume "${name}" is not supported`);
  }
  return folder;
}

async function claimFolder(name: string, options: PodVolumesOptions): Promise<string> {
  const { client, pod } = options;
  const claim = await client.find(PersistentVolumeClaim, { namespace: namespaceOf(pod), name });
  const volumeName = claim?.spec?.volumeName;
  if (volumeName === undefined) throw unsupported(options, `its claim "${name}" is not bound`);
  const volume = await client.find(PersistentVolume, { name: volumeName });
  const path = volume?.spec?.hostPath?.path;
  if (path === undefined) throw unsupported(options, `the volume ${volumeName} of its claim "${name}" is not a folder`);
  return path;
}

async function projectedFiles(
  { secret, configMap, downwardAPI, serviceAccountToken }: VolumeProjection,
  mode: number,
  options: PodVolumesOptions,
): Promise<readonly ProjectedFile[]> {
  const namespace = namespaceOf(options.pod);
  if (secret !== undefined) {
    const { name = '', items, optional } = secret;
    const { data } = (await options.client.find(Secret, { namespace, name })) ?? {};
    const contents = mapValues(data, (value) => Buffer.from(value, 'base64'));
    return keyFiles(`Secret "${name}"`, contents, { items, optional, mode }, options);
  }
  if (configMap !== undefined) {
    const { name = '', items, optional } = configMap;
    const { data } = (await options.client.find(ConfigMap, { namespace, name })) ?? {};
    return keyFiles(`ConfigMap "${name}"`, mapValues(data, Buffer.from), { items, optional, mode }, options);
  }
  if (downwardAPI !== undefined) return fieldFiles(downwardAPI.items ?? [], mode, options);
  if (serviceAccountToken !== undefined) {
    return [{ path: serviceAccountToken.path, content: await options.token(), mode }];
  }
  throw unsupported(options, 'a source of one of its projected volumes is not supported');
}

interface Keys {
  readonly items: readonly KeyToPath[] | undefined;
  readonly optional: boolean | undefined;
  readonly mode: number;
}

/** Without `items`, every key is a file. An optional key that does not exist is left out. */
function keyFiles(
  object: string,
  contents: Readonly<Record<string, Buffer>>,
  { items, optional = false, mode }: Keys,
  options: PodVolumesOptions,
): readonly ProjectedFile[] {
  const wanted = items ?? Object.keys(contents).map((key) => ({ key, path: key }));
  return wanted.flatMap(({ key, path, mode: own = mode }: KeyToPath) => {
    const content = contents[key];
    if (content !== undefined) return [{ path, content, mode: own }];
    if (optional) return [];
    throw unsupported(options, `the ${object} has no key "${key}"`);
  });
}

function fieldFiles(
  items: readonly DownwardAPIVolumeFile[],
  mode: number,
  { pod }: PodVolumesOptions,
): readonly ProjectedFile[] {
  return items.map(({ path, fieldRef, mode: own = mode }) => ({
    path,
    content: podField(pod, fieldRef?.fieldPath ?? ''),
    mode: own,
  }));
}

function mapValues<T>(map: Readonly<Record<string, string>> = {}, value: (text: string) => T): Record<string, T> {
  return Object.fromEntries(Object.entries(map).map(([key, text]) => [key, value(text)]));
}

function namespaceOf({ metadata }: Pod): string {
  return metadata?.namespace ?? '';
}

function unsupported({ pod }: PodVolumesOptions, problem: string): BowlineError {
  return new BowlineError(
    'BOWLINE_SIDECAR_UNSUPPORTED',
    `cannot run a container of the pod ${pod.metadata?.name} as a process: ${problem}`,
  );
}
