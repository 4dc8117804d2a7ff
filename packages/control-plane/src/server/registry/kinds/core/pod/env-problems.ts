import type { EnvFromSource, EnvVar, ObjectFieldSelector } from '@bowline/kubernetes';
import { dnsSubdomainProblems, type FieldProblem, labelKeyProblems } from '@bowline/machinery';
import { keyProblems } from '../../shared/content-keys.ts';
import type { PartialObject } from '../../shared/partial-object.ts';
import { invalid, invalids, notSupported, required } from '../../shared/problems.ts';
import { resourceFieldProblems } from './resource-field-problems.ts';

type Problems = FieldProblem[];

const ENV_NAME = "a valid environment variable name must consist only of printable ASCII characters other than '='";

/** Fields of a pod that an environment variable may refer to. */
const ENV_FIELDS = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];

/** envNameProblems validates the name of an environment variable. */
function envNameProblems(name: string): string[] {
  return /^[ -<>-~]+$/.test(name) ? [] : [ENV_NAME];
}

/** envProblems validates the environment variables of a container. */
export function envProblems(path: string, variables: readonly PartialObject<EnvVar>[]): Problems {
  return variables.flatMap((variable, index) => {
    const at = `${path}[${index}]`;
    const { name = '' } = variable;
    const problems = name === '' ? [required(`${at}.name`)] : invalids(`${at}.name`, name, envNameProblems(name));
    return [...problems, ...sourceProblems(`${at}.valueFrom`, variable)];
  });
}

function sourceProblems(at: string, { value = '', valueFrom }: PartialObject<EnvVar>): Problems {
  if (!valueFrom) return [];
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = valueFrom;
  const problems: Problems = [];
  const sources = [fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef].filter(Boolean).length;
  if (fieldRef) problems.push(...fieldProblems(`${at}.fieldRef`, fieldRef));
  if (resourceFieldRef) {
    const { resource = '' } = resourceFieldRef;
    problems.push(...resourceFieldProblems(`${at}.resourceFieldRef.resource`, resource));
  }
  for (const [member, reference] of [
    ['configMapKeyRef', configMapKeyRef],
    ['secretKeyRef', secretKeyRef],
  ] as const) {
    if (!reference) continue;
    const { name = '', key = '' } = reference;
    problems.push(...invalids(`${at}.${member}.name`, name, dnsSubdomainProblems(name)));
    if (key === '') problems.push(required(`${at}.${member}.key`));
    else
      for (const { message } of keyProblems('', key)) {
        problems.push({ field: `${at}.${member}.key`, reason: 'FieldValueInvalid', message });
      }
  }
  if (sources === 0) {
    problems.push(
      invalid(
        at,
        '',
        'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`',
      ),
    );
  } else if (value !== '') problems.push(invalid(at, '', 'may not be specified when `value` is not empty'));
  else if (sources > 1) problems.push(invalid(at, '', 'may not have more than one field specified at a time'));
  return problems;
}

function fieldProblems(at: string, { fieldPath = '' }: PartialObject<ObjectFieldSelector>): Problems {
  if (fieldPath === '') return [required(`${at}.fieldPath`)];
  const subscript = /^(metadata\.(?:annotations|labels))\['([^']*)'\]$/.exec(fieldPath);
  if (subscript) return invalids(`${at}.fieldPath`, fieldPath, labelKeyProblems((subscript[2] ?? '').toLowerCase()));
  if (ENV_FIELDS.includes(fieldPath)) return [];
  if (['metadata.annotations', 'metadata.labels'].includes(fieldPath)) {
    return [notSupported(`${at}.fieldPath`, fieldPath, ENV_FIELDS)];
  }
  return [invalid(`${at}.fieldPath`, fieldPath, `error converting fieldPath: field label not supported: ${fieldPath}`)];
}

/** envFromProblems validates the ConfigMaps and Secrets that become environment variables. */
export function envFromProblems(path: string, sources: readonly PartialObject<EnvFromSource>[]): Problems {
  return sources.flatMap(({ prefix = '', configMapRef, secretRef }, index) => {
    const at = `${path}[${index}]`;
    const problems = prefix === '' ? [] : invalids(`${at}.prefix`, prefix, envNameProblems(prefix));
    for (const [member, reference] of [
      ['configMapRef', configMapRef],
      ['secretRef', secretRef],
    ] as const) {
      if (!reference) continue;
      const { name = '' } = reference;
      problems.push(
        ...(name === ''
          ? [required(`${at}.${member}.name`)]
          : invalids(`${at}.${member}.name`, name, dnsSubdomainProblems(name))),
      );
    }
    if (!configMapRef && !secretRef)
      problems.push(invalid(path, '', 'must specify one of: `configMapRef` or `secretRef`'));
    if (configMapRef && secretRef)
      problems.push(invalid(path, '', 'may not have more than one field specified at a time'));
    return problems;
  });
}
