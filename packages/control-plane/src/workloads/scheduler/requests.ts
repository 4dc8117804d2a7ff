import type { Container, Pod } from '@bowline/kubernetes';
import { addQuantities, compareQuantities, parseQuantity, type Quantity } from '@bowline/machinery';

/** Requests is an amount of each resource. */
export type Requests = ReadonlyMap<string, Quantity>;

/** requestsOf is what a Pod asks of its node: its containers together, or the largest init container if that is more. */
export function requestsOf({ spec }: Pod): Requests {
  const total = new Map<string, Quantity>();
  for (const { resources } of spec?.containers ?? []) addAll(total, amounts(resources?.requests));
  const beside = new Map<string, Quantity>();
  for (const container of spec?.initContainers ?? []) {
    const asked = amounts(container.resources?.requests);
    if (isSidecar(container)) {
      addAll(beside, asked);
      addAll(total, asked);
      continue;
    }
    const then = new Map(beside);
    addAll(then, asked);
    for (const [name, amount] of then) raise(total, name, amount);
  }
  addAll(total, amounts(spec?.overhead));
  return total;
}

/** addAll adds amounts to a sum. */
export function addAll(sum: Map<string, Quantity>, amounts: Requests): void {
  for (const [name, amount] of amounts) {
    const before = sum.get(name);
    sum.set(name, before ? addQuantities(before, amount) : amount);
  }
}

function raise(sum: Map<string, Quantity>, name: string, amount: Quantity): void {
  const before = sum.get(name);
  if (!before || compareQuantities(before, amount) < 0) sum.set(name, amount);
}

function amounts(quantities: Readonly<Record<string, string>> | undefined): Requests {
  return new Map(Object.entries(quantities ?? {}).map(([name, text]) => [name, parseQuantity(text)]));
}

function isSidecar({ restartPolicy }: Container): boolean {
  return restartPolicy === 'Always';
}
