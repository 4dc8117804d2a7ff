import { describe, expect, it } from 'vitest';
import { rawMember } from './raw-member.ts';

describe('rawMember', () => {
  it.each([
    ['{"data":{"n":12345678901234567890, "f": 1.10}}', '{"n":12345678901234567890, "f": 1.10}'],
    [' { "a" : [1,{"data":2}] , "data" : "}\\",{" } ', '"}\\",{"'],
    ['{"b":"data","data":null,"c":true}', 'null'],
    ['{"data":1,"x":{"data":[{}]},"data":-2e5}', '-2e5'],
    ['{"d\\u0061ta":[]}', '[]'],
    ['{}', undefined],
    ['{"x":{"data":1}}', undefined],
    ['{"x":[],"y":"\\\\"}', undefined],
  ])('of %s is the unchanged text of the member data', (object, text) => {
    expect(rawMember(object, 'data')).toBe(text);
    const parsed = (JSON.parse(object) as { data?: unknown }).data;
    expect(text === undefined ? undefined : JSON.parse(text)).toEqual(parsed);
  });
});
