import type { CustomResourceDefinition, CustomResourceDefinitionVersion } from '@bowline/kubernetes';
import { canonicalJson, dns1035LabelProblems, type FieldProblem } from '@bowline/machinery';
import { forbidden, invalid, notSupported, oneOf, required } from '../registry/kinds/shared/problems.ts';
import { groupProblems, labels, nameProblems } from './definition-names.ts';
import {
  columnProblems,
  type Parts,
  selectableProblems,
  subresourceProblems,
  versionSchemaProblems,
} from './version-problems.ts';

const PROTECTED_GROUP = /(^|\.)(k8s\.io|kubernetes\.io)$/;
const APPROVAL = 'api-approved.kubernetes.io';
const APPROVAL_FIELD = `metadata.annotations[${APPROVAL}]`;
const SEE = 'see https://github.com/kubernetes/enhancements/pull/1111';

/** definitionProblems returns the problems of a CustomResourceDefinition; `old` is the one that it replaces. */
export function definitionProblems(
  definition: CustomResourceDefinition,
  old: CustomResourceDefinition | undefined,
): FieldProblem[] {
  const { metadata, spec, status } = definition;
  const problems: FieldProblem[] = [];
  if (!old && metadata?.name !== `${spec.names.plural}.${spec.group}`)
    problems.push(invalid('metadata.name', metadata?.name ?? '', 'must be spec.names.plural+"."+spec.group'));
  problems.push(...specProblems(definition, old));
  problems.push(...storedVersionProblems(spec.versions, status?.storedVersions));
  problems.push(...approvalProblems(spec.group, metadata?.annotations?.[APPROVAL]));
  return problems;
}

function specProblems({ spec }: CustomResourceDefinition, old: CustomResourceDefinition | undefined): FieldProblem[] {
  const { versions } = spec;
  const problems = groupProblems(spec.group);
  problems.push(...oneOf('spec.scope', spec.scope, ['Cluster', 'Namespaced']));
  if (spec.preserveUnknownFields === true) {
    const why =
      'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead';
    problems.push(invalid('spec.preserveUnknownFields', true, why));
  }
  problems.push(...versionListProblems(versions));
  problems.push(...nameProblems(spec.names));
  problems.push(...versionPartProblems(versions, old?.spec.versions ?? []));
  problems.push(...conversionProblems(spec));
  return problems;
}

function versionListProblems(versions: readonly CustomResourceDefinitionVersion[]): FieldProblem[] {
  const problems: FieldProblem[] = [];
  for (const [index, { name, deprecated, deprecationWarning }] of versions.entries()) {
    const at = `spec.versions[${index}]`;
    problems.push(...labels(`${at}.name`, name));
    if (deprecationWarning === undefined) continue;
    const wrong = (why: string): void => {
      problems.push(invalid(`${at}.deprecationWarning`, deprecationWarning, why));
    };
    if (deprecated !== true) wrong('can only be set for deprecated versions');
    else if (deprecationWarning === '') wrong('must not be an empty string');
    else if (Buffer.byteLength(deprecationWarning) > 256) wrong('must be <= 256 characters long');
    else if (/[\p{Cc}]/u.test(deprecationWarning))
      wrong('must only contain printable UTF-8 characters; non-printable character found');
  }
  const shown = versions.map(({ name, served, storage, deprecated, deprecationWarning }) => ({
    Name: name,
    Served: served,
    Storage: storage,
    Deprecated: deprecated ?? false,
    DeprecationWarning: deprecationWarning ?? null,
    Schema: null,
    Subresources: null,
    AdditionalPrinterColumns: null,
    SelectableFields: null,
  }));
  const wrong = (why: string): FieldProblem => ({
    ...invalid('spec.versions', [], why),
    message: `Invalid value: ${JSON.stringify(shown)}: ${why}`,
  });
  if (new Set(versions.map(({ name }) => name)).size < versions.length)
    problems.push(wrong('must contain unique version names'));
  if (versions.filter(({ storage }) => storage).length !== 1)
    problems.push(wrong('must have exactly one version marked as storage version'));
  const first = versions[0]?.name;
  if (first && dns1035LabelProblems(first).length > 0) problems.push(...labels('spec.version', first));
  return problems;
}

/**
 * The API server treats parts that are equal in all versions as fields of the definition itself: its messages contain
 * that path.
 */
function versionPartProblems(
  versions: readonly CustomResourceDefinitionVersion[],
  old: readonly CustomResourceDefinitionVersion[],
): FieldProblem[] {
  const shared = (part: (version: CustomResourceDefinitionVersion) => unknown): boolean =>
    new Set(versions.map((version) => canonicalJson(part(version) ?? null))).size === 1;
  const isShared = {
    schema: shared(({ schema }) => schema),
    columns: shared(({ additionalPrinterColumns }) => additionalPrinterColumns),
    subresources: shared(({ subresources }) => subresources),
    selectable: shared(({ selectableFields }) => selectableFields),
  };
  const problems: FieldProblem[] = [];
  for (const [index, version] of versions.entries()) {
    const own = `spec.versions[${index}]`;
    const hasSchema = version.schema?.openAPIV3Schema !== undefined;
    const parts: Parts = {
      schema: isShared.schema && hasSchema ? 'spec.validation.openAPIV3Schema' : `${own}.schema.openAPIV3Schema`,
      columns: isShared.columns ? 'spec.additionalPrinterColumns' : `${own}.additionalPrinterColumns`,
      subresources: isShared.subresources ? 'spec.subresources' : `${own}.subresources`,
      selectable: isShared.selectable ? 'spec.selectableFields' : `${own}.selectableFields`,
    };
    const isFirst = index === 0;
    if (isFirst || !isShared.schema || !hasSchema)
      problems.push(...versionSchemaProblems(version, parts, isSchemaUnchanged(version, old)));
    if (isFirst || !isShared.subresources) problems.push(...subresourceProblems(version, parts));
    if (isFirst || !isShared.columns) problems.push(...columnProblems(version, parts));
    if (isFirst || !isShared.selectable) problems.push(...selectableProblems(version, parts));
  }
  return problems;
}

function isSchemaUnchanged(
  { name, schema }: CustomResourceDefinitionVersion,
  old: readonly CustomResourceDefinitionVersion[],
): boolean {
  const before = old.find((version) => version.name === name);
  return before !== undefined && canonicalJson(before.schema ?? null) === canonicalJson(schema ?? null);
}

function conversionProblems({ conversion }: CustomResourceDefinition['spec']): FieldProblem[] {
  const { strategy, webhook } = conversion ?? { strategy: 'None' };
  const at = 'spec.conversion';
  if (!['None', 'Webhook'].includes(strategy)) return [notSupported(`${at}.strategy`, strategy, ['None', 'Webhook'])];
  if (strategy === 'None') {
    const why = 'should not be set when strategy is not set to Webhook';
    const problems: FieldProblem[] = [];
    if (webhook?.clientConfig) problems.push(forbidden(`${at}.webhookClientConfig`, why));
    if ((webhook?.conversionReviewVersions ?? []).length > 0)
      problems.push(forbidden(`${at}.conversionReviewVersions`, why));
    return problems;
  }
  const problems: FieldProblem[] = [];
  if (!webhook?.clientConfig)
    problems.push(required(`${at}.webhookClientConfig`, 'required when strategy is set to Webhook'));
  if ((webhook?.conversionReviewVersions ?? []).length === 0) problems.push(required(`${at}.conversionReviewVersions`));
  if (problems.length > 0) return problems;
  const why =
    'the embedded control plane does not call conversion webhooks; use the strategy None or a Kubernetes control plane';
  return [forbidden(`${at}.strategy`, why)];
}

/** storedVersionProblems returns the problems of the versions in which objects may be stored. */
function storedVersionProblems(
  versions: readonly CustomResourceDefinitionVersion[],
  stored: readonly string[] | undefined,
): FieldProblem[] {
  const field = 'status.storedVersions';
  if (!stored || stored.length === 0) return [invalid(field, null, 'must have at least one stored version')];
  const problems: FieldProblem[] = [];
  for (const [index, name] of stored.entries()) {
    if (versions.some((version) => version.name === name)) continue;
    const why = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
    problems.push(invalid(`${field}[${index}]`, name, why));
  }
  const storage = versions.findLast((version) => version.storage)?.name;
  if (storage !== undefined && !stored.includes(storage))
    problems.push(invalid(field, stored, `must have the storage version ${storage}`));
  return problems;
}

function approvalProblems(group: string, approval: string | undefined): FieldProblem[] {
  if (!PROTECTED_GROUP.test(group)) return [];
  const must = `protected groups must have approval annotation "${APPROVAL}"`;
  if (!approval) return [required(APPROVAL_FIELD, `${must}, ${SEE}`)];
  if (approval.startsWith('unapproved') || URL.canParse(approval)) return [];
  const why = `${must} with either a URL or a reason starting with "unapproved", ${SEE}`;
  return [invalid(APPROVAL_FIELD, approval, why)];
}
