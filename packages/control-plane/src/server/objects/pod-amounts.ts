import type { Container, Pod } from '@bowline/kubernetes';
import { addQuantities, compareQuantities, parseQuantity, type Quantity } from '@bowline/machinery';

/** Amounts maps resource names to quantities. */
export type Amounts = ReadonlyMap<string, Quantity>;

/**
 * requestsOf returns the resources that a Pod requests from its node: the sum of its containers, or the largest init
 * container if that is larger.
 */
export function requestsOf({ spec }: Pod): Amounts {
  const total = totalOf(spec, 'requests');
  addAmounts(total, amountsIn(spec?.overhead));
  return total;
}

/** limitsOf returns the resource limits of a Pod. The overhead is added only to resources that have a limit. */
export function limitsOf({ spec }: Pod): Amounts {
  const total = totalOf(spec, 'limits');
  for (const [name, amount] of amountsIn(spec?.overhead)) {
    const limit = total.get(name);
    if (limit && limit.nanos !== 0n) total.set(name, addQuantities(limit, amount));
  }
  return total;
}

/** addAmounts adds amounts to a sum in place. */
export function addAmounts(sum: Map<string, Quantity>, amounts: Amounts): void {
  for (const [name, amount] of amounts) {
    const before = sum.get(name);
    sum.set(name, before ? addQuantities(before, amount) : amount);
  }
}

/** amountsIn parses the quantities of an object. */
export function amountsIn(quantities: Readonly<Record<string, string>> | undefined): Amounts {
  return new Map(Object.entries(quantities ?? {}).map(([name, text]) => [name, parseQuantity(text)]));
}

function totalOf(spec: Pod['spec'], field: 'requests' | 'limits'): Map<string, Quantity> {
  const total = new Map<string, Quantity>();
  for (const { resources } of spec?.containers ?? []) addAmounts(total, amountsIn(resources?.[field]));
  const beside = new Map<string, Quantity>();
  for (const container of spec?.initContainers ?? []) {
    const own = amountsIn(container.resources?.[field]);
    if (isSidecar(container)) {
      addAmounts(beside, own);
      addAmounts(total, own);
      continue;
    }
    const then = new Map(beside);
    addAmounts(then, own);
    for (const [name, amount] of then) raise(total, name, amount);
  }
  // Pod-level resources take precedence over those of the containers.
  for (const [name, amount] of amountsIn(spec?.resources?.[field])) total.set(name, amount);
  return total;
}

function raise(sum: Map<string, Quantity>, name: string, amount: Quantity): void {
  const before = sum.get(name);
  if (!before || compareQuantities(before, amount) < 0) sum.set(name, amount);
}

function isSidecar({ restartPolicy }: Container): boolean {
  return restartPolicy === 'Always';
}
