import type { MutatingWebhook, WebhookClientConfig } from '@bowline/kubernetes';
import {
  dns1035LabelProblems,
  dnsSubdomainProblems,
  type FieldProblem,
  validateLabelSelector,
} from '@bowline/machinery';
import type { PartialObject } from '../shared/partial-object.ts';
import { duplicate, invalid, invalids, notSupported, required } from '../shared/problems.ts';
import { matchConditionProblems } from './match-condition-problems.ts';
import { ruleProblems } from './rule-problems.ts';

type Webhook = PartialObject<MutatingWebhook>;

const SIDE_EFFECTS = ['None', 'NoneOnDryRun'];
const REVIEW_VERSIONS = ['v1', 'v1beta1'];

/** webhookProblems validates the webhooks of a configuration. Unchanged expressions are not validated again. */
export function webhookProblems(
  webhooks: readonly Webhook[],
  old: readonly Webhook[] | undefined,
  mutates: boolean,
): FieldProblem[] {
  const names = new Set<string>();
  const alreadyValidated = new Set(
    (old ?? []).flatMap(({ matchConditions = [] }) => matchConditions.map(({ expression }) => expression)),
  );
  return webhooks.flatMap((webhook, index) => {
    const at = `webhooks[${index}]`;
    const problems = [
      ...oneProblems(at, webhook, mutates),
      ...matchConditionProblems(`${at}.matchConditions`, webhook.matchConditions ?? [], { alreadyValidated }),
    ];
    const { name = '' } = webhook;
    if (name !== '' && names.has(name)) problems.push(duplicate(`${at}.name`, name));
    names.add(name);
    return problems;
  });
}

function oneProblems(at: string, webhook: Webhook, mutates: boolean): FieldProblem[] {
  const problems = nameProblems(`${at}.name`, webhook.name ?? '');
  (webhook.rules ?? []).forEach((rule, index) => {
    problems.push(...ruleProblems(`${at}.rules[${index}]`, rule));
  });
  const choice = (field: 'failurePolicy' | 'matchPolicy' | 'reinvocationPolicy', known: readonly string[]): void => {
    const value = webhook[field];
    if (value !== undefined && !known.includes(value)) problems.push(notSupported(`${at}.${field}`, value, known));
  };
  choice('failurePolicy', ['Fail', 'Ignore']);
  choice('matchPolicy', ['Equivalent', 'Exact']);
  const { sideEffects, timeoutSeconds = 0 } = webhook;
  if (sideEffects === undefined) problems.push(required(`${at}.sideEffects`, 'must specify one of None, NoneOnDryRun'));
  else if (!SIDE_EFFECTS.includes(sideEffects))
    problems.push(notSupported(`${at}.sideEffects`, sideEffects, SIDE_EFFECTS));
  if (timeoutSeconds < 1 || timeoutSeconds > 30) {
    const detail = 'the timeout value must be between 1 and 30 seconds';
    problems.push(invalid(`${at}.timeoutSeconds`, timeoutSeconds, detail));
  }
  for (const name of ['namespaceSelector', 'objectSelector'] as const) {
    // Validated as received: a missing field selects everything.
    const selector = webhook[name] as Parameters<typeof validateLabelSelector>[0] | undefined;
    if (selector) problems.push(...validateLabelSelector(selector, `${at}.${name}`));
  }
  if (mutates) choice('reinvocationPolicy', ['IfNeeded', 'Never']);
  problems.push(...clientProblems(`${at}.clientConfig`, webhook.clientConfig ?? {}));
  return [...problems, ...versionProblems(`${at}.admissionReviewVersions`, webhook.admissionReviewVersions ?? [])];
}

function nameProblems(field: string, name: string): FieldProblem[] {
  if (name === '') return [required(field)];
  const problems = invalids(field, name, dnsSubdomainProblems(name));
  if (problems.length > 0 || name.split('.').length >= 3) return problems;
  return [invalid(field, name, 'should be a domain with at least three segments separated by dots')];
}

function versionProblems(field: string, versions: readonly string[]): FieldProblem[] {
  if (versions.length === 0) return [required(field, `must specify one of ${REVIEW_VERSIONS.join(', ')}`)];
  const seen = new Set<string>();
  const problems = versions.flatMap((version, index) => {
    const at = `${field}[${index}]`;
    if (seen.has(version)) return [invalid(at, version, 'duplicate version')];
    seen.add(version);
    return invalids(at, version, dns1035LabelProblems(version));
  });
  if (problems.length === 0 && !REVIEW_VERSIONS.some((version) => seen.has(version)))
    problems.push(invalid(field, versions, `must include at least one of ${REVIEW_VERSIONS.join(', ')}`));
  return problems;
}

function clientProblems(at: string, { url, service }: PartialObject<WebhookClientConfig>): FieldProblem[] {
  if ((url === undefined) === (service === undefined))
    return [required(at, 'exactly one of url or service is required')];
  if (url !== undefined) return urlProblems(`${at}.url`, url);
  return serviceProblems(`${at}.service`, service ?? {});
}

const URL_FORM = 'desired format: https://host[/path]';

function urlProblems(field: string, url: string): FieldProblem[] {
  // Split as Go does it: missing parts are empty.
  const [, scheme = '', user, host = '', query, fragment] =
    /^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(?:\/\/(?:([^/?#@]*)@)?([^/?#]*))?[^?#]*(?:\?([^#]*))?(?:#(.*))?$/s.exec(url) ??
    [];
  const problems: FieldProblem[] = [];
  if (scheme !== 'https') problems.push(invalid(field, scheme, `'https' is the only allowed URL scheme; ${URL_FORM}`));
  if (host === '') problems.push(invalid(field, host, `host must be specified; ${URL_FORM}`));
  if (user !== undefined) problems.push(invalid(field, user, 'user information is not permitted in the URL'));
  if (fragment) problems.push(invalid(field, fragment, 'fragments are not permitted in the URL'));
  if (query) problems.push(invalid(field, query, 'query parameters are not permitted in the URL'));
  return problems;
}

function serviceProblems(
  at: string,
  { name, namespace, port = 0, path }: NonNullable<PartialObject<WebhookClientConfig>['service']>,
): FieldProblem[] {
  const problems: FieldProblem[] = [];
  if (!name) problems.push(required(`${at}.name`));
  if (!namespace) problems.push(required(`${at}.namespace`));
  if (port < 1 || port > 65_535)
    problems.push(invalid(`${at}.port`, port, 'port is not valid: must be between 1 and 65535, inclusive'));
  if (path === undefined || path === '') return problems;
  const field = `${at}.path`;
  if (!path.startsWith('/')) problems.push(invalid(field, path, "must start with a '/'"));
  // The first character is treated as the slash, whatever it is.
  const segments = path.slice(1).replace(/\/$/, '').split('/');
  if (path === '/') return problems;
  for (const [index, segment] of segments.entries()) {
    if (segment === '') problems.push(invalid(field, path, `segment[${index}] may not be empty`));
    else
      for (const detail of dnsSubdomainProblems(segment))
        problems.push(invalid(field, path, `segment[${index}]: ${detail}`));
  }
  return problems;
}
