import { describe, expect, it } from 'vitest';
import { EventQueue, type QueuedEvent } from './event-queue.ts';

const event = (namespace: string, key: string, isWarning = true): QueuedEvent => ({ namespace, key, isWarning });

function drain(queue: EventQueue<QueuedEvent>): string[] {
  const keys: string[] = [];
  for (let next = queue.take(); next; next = queue.take()) keys.push(next.key);
  return keys;
}

describe('EventQueue', () => {
  it('returns warnings first, and namespaces in turn', () => {
    const queue = new EventQueue(100);
    for (const key of ['n1', 'n2']) queue.add(event('a', key, false));
    for (const key of ['a1', 'a2', 'a3']) queue.add(event('a', key));
    for (const key of ['b1', 'b2']) queue.add(event('b', key));
    queue.add(event('c', 'c1'));
    expect(drain(queue)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'n1', 'n2']);
    expect(queue.size).toBe(0);
  });

  it('drops normal events first, then from the namespace with the most waiting, the oldest first', () => {
    const queue = new EventQueue(4);
    queue.add(event('quiet', 'q'));
    for (const key of ['s1', 's2']) queue.add(event('storm', key));
    queue.add(event('quiet', 'n', false));
    expect(queue.add(event('storm', 's3'))?.key).toBe('n');
    expect(queue.add(event('storm', 's4'))?.key).toBe('s1');
    expect(queue.add(event('late', 'l'))?.key).toBe('s2');
    expect(queue.add(event('late', 'n', false))?.key).toBe('n');
    expect(drain(queue)).toEqual(['q', 's3', 'l', 's4']);
  });

  it('finds a waiting event', () => {
    const queue = new EventQueue(4);
    queue.add(event('a', 'x'));
    expect(queue.find(event('a', 'x'))).toEqual(event('a', 'x'));
    expect(queue.find(event('a', 'x', false))).toBeUndefined();
    queue.take();
    expect(queue.find(event('a', 'x'))).toBeUndefined();
  });
});
