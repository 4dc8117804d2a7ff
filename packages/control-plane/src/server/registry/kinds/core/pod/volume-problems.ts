import type { KeyToPath, PersistentVolumeClaimSpec, Volume, VolumeProjection } from '@bowline/kubernetes';
import { dnsLabelProblems, type FieldProblem, labelKeyProblems } from '@bowline/machinery';
import type { PartialObject } from '../../shared/partial-object.ts';
import { duplicate, forbidden, invalid, invalids, notSupported, required } from '../../shared/problems.ts';
import { claimSpecProblems } from '../volume-claim-problems.ts';
import { localPathProblems } from './container-problems.ts';
import { resourceFieldProblems } from './resource-field-problems.ts';

type Problems = FieldProblem[];

const MODE = 'must be a number between 0 and 0777 (octal), both inclusive';
const HOST_PATH_TYPES = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
];
const FILE_FIELDS = ['metadata.annotations', 'metadata.labels', 'metadata.name', 'metadata.namespace', 'metadata.uid'];

/** volumeListProblems validates the volumes of a pod. */
export function volumeListProblems(path: string, volumes: readonly PartialObject<Volume>[]): Problems {
  const problems: Problems = [];
  const names = new Set<string>();
  volumes.forEach((volume, index) => {
    const at = `${path}[${index}]`;
    const { name = '' } = volume;
    problems.push(...sourceProblems(at, volume));
    if (name === '') problems.push(required(`${at}.name`));
    else problems.push(...invalids(`${at}.name`, name, dnsLabelProblems(name)));
    if (name !== '' && names.has(name)) problems.push(duplicate(`${at}.name`, name));
    names.add(name);
  });
  return problems;
}

/** In the order in which the API server checks them: the second and all following sources of a volume are rejected. */
const SOURCES: readonly (readonly [
  keyof Volume,
  ((at: string, source: PartialObject<Volume>) => Problems) | undefined,
])[] = [
  [
    'emptyDir',
    (at, { emptyDir }) =>
      emptyDir?.sizeLimit?.startsWith('-')
        ? [forbidden(`${at}.sizeLimit`, 'SizeLimit field must be a valid resource quantity')]
        : [],
  ],
  ['hostPath', hostPathProblems],
  ['gitRepo', (at, { gitRepo }) => (gitRepo?.repository ? [] : [required(`${at}.repository`)])],
  ['gcePersistentDisk', undefined],
  ['awsElasticBlockStore', undefined],
  ['secret', secretProblems],
  ['nfs', nfsProblems],
  ['iscsi', undefined],
  ['glusterfs', undefined],
  ['flocker', undefined],
  ['persistentVolumeClaim', claimProblems],
  ['rbd', undefined],
  ['cinder', undefined],
  ['cephfs', undefined],
  ['quobyte', undefined],
  ['downwardAPI', (at, { downwardAPI }) => filesProblems(at, downwardAPI)],
  ['fc', undefined],
  ['flexVolume', undefined],
  ['configMap', configMapProblems],
  ['azureFile', undefined],
  ['vsphereVolume', undefined],
  ['photonPersistentDisk', undefined],
  ['portworxVolume', undefined],
  ['azureDisk', undefined],
  ['storageos', undefined],
  ['projected', projectedProblems],
  ['scaleIO', undefined],
  ['csi', (at, { csi }) => (csi?.driver ? [] : [required(`${at}.driver`)])],
  ['ephemeral', ephemeralProblems],
  ['image', imageProblems],
];

function sourceProblems(at: string, volume: PartialObject<Volume>): Problems {
  const problems: Problems = [];
  let sources = 0;
  for (const [name, check] of SOURCES) {
    if (volume[name] === undefined) continue;
    if (sources++ > 0) problems.push(forbidden(`${at}.${name}`, 'may not specify more than 1 volume type'));
    else problems.push(...(check?.(`${at}.${name}`, volume) ?? []));
  }
  if (sources === 0) problems.push(required(at, 'must specify a volume type'));
  return problems;
}

/** hostPathProblems validates a hostPath volume. */
export function hostPathProblems(at: string, { hostPath }: Pick<PartialObject<Volume>, 'hostPath'>): Problems {
  const { path = '', type = '' } = hostPath ?? {};
  if (path === '') return [required(`${at}.path`)];
  const problems: Problems = [];
  if (path.split('/').includes('..')) problems.push(invalid(`${at}.path`, path, "must not contain '..'"));
  if (!HOST_PATH_TYPES.includes(type)) problems.push(notSupported(`${at}.type`, type, HOST_PATH_TYPES));
  return problems;
}

function secretProblems(at: string, { secret }: PartialObject<Volume>): Problems {
  const { secretName, defaultMode, items = [] } = secret ?? {};
  const problems: Problems = secretName ? [] : [required(`${at}.secretName`)];
  return [...problems, ...modeProblems(`${at}.defaultMode`, defaultMode), ...itemProblems(at, items)];
}

function configMapProblems(at: string, { configMap }: PartialObject<Volume>): Problems {
  const { name, defaultMode, items = [] } = configMap ?? {};
  const problems: Problems = name ? [] : [required(`${at}.name`)];
  return [...problems, ...modeProblems(`${at}.defaultMode`, defaultMode), ...itemProblems(at, items)];
}

function nfsProblems(at: string, { nfs }: PartialObject<Volume>): Problems {
  const { server, path = '' } = nfs ?? {};
  const problems: Problems = server ? [] : [required(`${at}.server`)];
  if (path === '') problems.push(required(`${at}.path`));
  else if (!path.startsWith('/')) problems.push(invalid(`${at}.path`, path, 'must be an absolute path'));
  return problems;
}

function claimProblems(at: string, { persistentVolumeClaim }: PartialObject<Volume>): Problems {
  return persistentVolumeClaim?.claimName ? [] : [required(`${at}.claimName`)];
}

function ephemeralProblems(at: string, { ephemeral }: PartialObject<Volume>): Problems {
  const template = ephemeral?.volumeClaimTemplate;
  if (!template) return [required(`${at}.volumeClaimTemplate`)];
  const spec: PartialObject<PersistentVolumeClaimSpec> = template.spec ?? {};
  return claimSpecProblems(`${at}.volumeClaimTemplate.spec`, spec);
}

function imageProblems(at: string, { image }: PartialObject<Volume>): Problems {
  const { reference, pullPolicy = '' } = image ?? {};
  const problems: Problems = reference ? [] : [required(`${at}.reference`)];
  const known = ['Always', 'IfNotPresent', 'Never'];
  if (!known.includes(pullPolicy)) problems.push(notSupported(`${at}.pullPolicy`, pullPolicy, known));
  return problems;
}

function projectedProblems(at: string, { projected }: PartialObject<Volume>): Problems {
  const problems = modeProblems(`${at}.defaultMode`, projected?.defaultMode);
  (projected?.sources ?? []).forEach((source, index) => {
    problems.push(...projectionProblems(`${at}.sources[${index}]`, source));
  });
  return problems;
}

function projectionProblems(at: string, source: PartialObject<VolumeProjection>): Problems {
  const { secret, configMap, downwardAPI, serviceAccountToken } = source;
  const problems: Problems = [];
  if (secret) {
    if (!secret.name) problems.push(required(`${at}.secret.name`));
    problems.push(...itemProblems(`${at}.secret`, secret.items ?? []));
  }
  if (configMap) {
    if (!configMap.name) problems.push(required(`${at}.configMap.name`));
    problems.push(...itemProblems(`${at}.configMap`, configMap.items ?? []));
  }
  if (downwardAPI) problems.push(...filesProblems(`${at}.downwardAPI`, downwardAPI));
  if (serviceAccountToken) {
    const { expirationSeconds = 0, path = '' } = serviceAccountToken;
    const field = `${at}.serviceAccountToken`;
    if (expirationSeconds < 600) {
      problems.push(
        invalid(`${field}.expirationSeconds`, expirationSeconds, 'may not specify a duration less than 10 minutes'),
      );
    }
    if (expirationSeconds > 2 ** 32) {
      problems.push(
        invalid(`${field}.expirationSeconds`, expirationSeconds, 'may not specify a duration larger than 2^32 seconds'),
      );
    }
    // The API server names the volume here instead of the source.
    const whole = at.replace(/\.sources\[\d+\]$/, '');
    if (path === '') problems.push(required(`${whole}.path`));
    else problems.push(...localFileProblems(`${whole}.path`, path));
  }
  const sources = Object.values(source).filter((each) => each !== undefined).length;
  if (sources > 1) problems.push(forbidden(at, 'may not specify more than 1 volume type per source'));
  return problems;
}

function itemProblems(at: string, items: readonly PartialObject<KeyToPath>[]): Problems {
  return items.flatMap(({ key = '', path = '', mode }, index) => {
    const item = `${at}.items[${index}]`;
    const problems: Problems = [];
    if (key === '') problems.push(required(`${item}.key`));
    if (path === '') problems.push(required(`${item}.path`));
    else problems.push(...localFileProblems(`${item}.path`, path));
    return [...problems, ...modeProblems(`${item}.mode`, mode)];
  });
}

function filesProblems(at: string, source: PartialObject<Volume>['downwardAPI']): Problems {
  const problems = modeProblems(`${at}.defaultMode`, source?.defaultMode);
  for (const { path = '', mode, fieldRef, resourceFieldRef } of source?.items ?? []) {
    if (path === '') problems.push(required(`${at}.path`));
    else problems.push(...localFileProblems(`${at}.path`, path));
    if (fieldRef) {
      const { fieldPath = '' } = fieldRef;
      const subscript = /^metadata\.(?:annotations|labels)\['([^']*)'\]$/.exec(fieldPath);
      if (fieldPath === '') problems.push(required(`${at}.fieldRef.fieldPath`));
      else if (subscript)
        problems.push(...invalids(`${at}.fieldRef`, fieldPath, labelKeyProblems((subscript[1] ?? '').toLowerCase())));
      else if (!FILE_FIELDS.includes(fieldPath))
        problems.push(notSupported(`${at}.fieldRef.fieldPath`, fieldPath, FILE_FIELDS));
      if (resourceFieldRef)
        problems.push(invalid(at, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously'));
    } else if (resourceFieldRef) {
      const { containerName, resource = '' } = resourceFieldRef;
      if (!containerName) problems.push(required(`${at}.resourceFieldRef.containerName`));
      problems.push(...resourceFieldProblems(`${at}.resourceFieldRef.resource`, resource));
    } else problems.push(required(at, 'one of fieldRef and resourceFieldRef is required'));
    problems.push(...modeProblems(`${at}.mode`, mode));
  }
  return problems;
}

function localFileProblems(field: string, path: string): Problems {
  const problems = localPathProblems(field, path);
  if (path.startsWith('..') && !path.startsWith('../')) problems.push(invalid(field, path, "must not start with '..'"));
  return problems;
}

function modeProblems(field: string, mode: number | undefined): Problems {
  return mode !== undefined && (mode < 0 || mode > 0o777) ? [invalid(field, mode, MODE)] : [];
}
