import { apiVersionOf } from '@bowline/kubernetes';
import { describeProblems } from '@bowline/machinery';
import { BowlineError } from '../errors/bowline-error.ts';
import { isCustomResource } from '../resource/custom-resource.ts';
import type { Operator } from './operator.ts';

/** checkOperator throws BOWLINE_OPERATOR_INVALID for an operator that cannot work as it is declared. */
export function checkOperator(operator: Operator): void {
  const { name, controllers, webhooks, services, commands, resources } = operator;
  const [problem] = [
    ...(/^[a-z0-9](?:[-a-z0-9]{0,53}[a-z0-9])?$/.test(name)
      ? []
      : ['the name must be a DNS label (lower-case letters, digits and dashes) of at most 55 characters']),
    ...(controllers.length + services.length + webhooks.length === 0
      ? ['it has neither controllers nor services nor webhooks']
      : []),
    ...twice('controller', controllers),
    ...twice('webhook', webhooks),
    ...twice('service', services),
    ...twice('command', commands),
    ...twice(
      'kind',
      resources.map(({ id }) => ({ name: id })),
    ),
    ...checkControllers(operator),
    ...checkSamples(operator),
  ];
  if (problem === undefined) return;
  throw new BowlineError('BOWLINE_OPERATOR_INVALID', `cannot define the operator "${name}": ${problem}`);
}

function twice(what: string, named: readonly { readonly name: string }[]): string[] {
  const names = named.map(({ name }) => name);
  const again = names.find((name, index) => names.indexOf(name) < index);
  return again === undefined
    ? []
    : [`the ${what} name "${again}" is used twice; names tell their metrics and logs apart`];
}

function checkControllers({ controllers }: Operator): string[] {
  const problems: string[] = [];
  const summarizing = new Map<string, string>();
  for (const { name, unusedFinalizer, sources, summarize } of controllers) {
    if (unusedFinalizer !== undefined) {
      problems.push(
        `the controller ${name} names the finalizer ${unusedFinalizer} but has no cleanup; add one, or leave it out`,
      );
    }
    const primary = sources.find(({ role }) => role === 'primary')?.resource;
    if (!summarize || !primary || !isCustomResource(primary) || !primary.hasStatus) continue;
    const other = summarizing.get(primary.id);
    if (other !== undefined) {
      problems.push(
        `the controllers ${other} and ${name} both say whether a ${primary.kind} is ready and would overwrite each other; set summarize: false on one`,
      );
    }
    summarizing.set(primary.id, name);
  }
  return problems;
}

function checkSamples({ samples, resources }: Operator): string[] {
  return samples.flatMap((sample) => {
    const kind = resources.find((each) => each.kind === sample.kind && apiVersionOf(each) === sample.apiVersion);
    const problems = kind?.validate(sample) ?? [];
    if (problems.length === 0) return [];
    return [`its sample ${sample.kind} ${sample.metadata?.name ?? ''} is not valid: ${describeProblems(problems)}`];
  });
}
