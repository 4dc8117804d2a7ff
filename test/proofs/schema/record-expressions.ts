import { CustomResourceDefinition } from '@bowline/kubernetes';
import type { Client } from '@bowline/runtime/client';
import { rules, sample, sampleSchema, texts } from '../../../packages/machinery/src/schema/fixtures/expressions.ts';
import { createKind, definitionOf, probeKind, probeObject, tryCreate, verdictOf } from './oracle.ts';

/** RecordedExpression is the API server's result for an expression: a rejection, or the problem of a value, if any. */
export interface RecordedExpression {
  readonly source: string;
  readonly isAccepted: boolean;
  /** The server's message for a rejected expression; for readers only. */
  readonly refusal?: string;
  /** The message of the violated rule; absent if the rule is true. */
  readonly message?: string;
}

const PER_KIND = 20;

/** recordExpressions evaluates the expressions of the fixtures on a real API server. */
export async function recordExpressions(
  client: Client,
): Promise<{ rules: RecordedExpression[]; texts: RecordedExpression[] }> {
  return {
    rules: await recordAll(client, 'rulex', rules, (rule) => ({ rule })),
    texts: await recordAll(client, 'textx', texts, (messageExpression) => ({
      rule: 'false',
      message: 'no text',
      messageExpression,
    })),
  };
}

type Rule = (source: string) => object;

async function recordAll(
  client: Client,
  label: string,
  sources: readonly string[],
  rule: Rule,
): Promise<RecordedExpression[]> {
  const refusals = new Map<string, string>();
  for (const source of sources) {
    const crd = definitionOf(probeKind(`${label}dry`), rootOf([source], rule));
    const verdict = await verdictOf(() => client.create(CustomResourceDefinition, crd, { dryRun: true }));
    if (verdict.status !== 200)
      refusals.set(
        source,
        verdict.causes
          .map(({ message }) => message)
          .join('; ')
          .slice(0, 300),
      );
  }
  const accepted = sources.filter((source) => !refusals.has(source));
  const messages = new Map<string, string>();
  for (let first = 0; first < accepted.length; first += PER_KIND) {
    const batch = accepted.slice(first, first + PER_KIND);
    const probe = probeKind(`${label}${first}x`);
    const installed = await createKind(client, probe, rootOf(batch, rule));
    if (installed.status !== 200) throw new Error(installed.message);
    const spec = Object.fromEntries(batch.map((_, index) => [`p${index}`, sample]));
    const verdict = await tryCreate(client, probe, probeObject(probe, { spec }));
    for (const { field, message } of verdict.causes) {
      const source = batch[Number(/^spec\.p(\d+)$/.exec(field)?.[1])];
      if (source === undefined) throw new Error(`unexpected problem ${field}: ${message}`);
      messages.set(source, message);
    }
  }
  return sources.map((source) => {
    const refusal = refusals.get(source);
    const message = messages.get(source);
    return {
      source,
      isAccepted: refusal === undefined,
      ...(refusal === undefined ? {} : { refusal }),
      ...(message === undefined ? {} : { message }),
    };
  });
}

function rootOf(sources: readonly string[], rule: Rule): object {
  const properties = Object.fromEntries(
    sources.map((source, index) => [`p${index}`, { ...sampleSchema, 'x-kubernetes-validations': [rule(source)] }]),
  );
  return { type: 'object', properties: { spec: { type: 'object', properties } } };
}
