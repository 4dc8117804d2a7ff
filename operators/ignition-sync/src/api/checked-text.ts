import { s } from '@bowline/runtime/resource';
import type { TextCheck, TextLimits } from '../checks/text-check.ts';

/** checkedText returns the schema of a text that the API server checks as `textProblem` does, with the same messages. */
export function checkedText({ maxLength, checks }: TextLimits) {
  return checks.reduce((schema, check, index) => {
    // A rule applies only if the ones before it hold, so that one problem gets one message.
    const earlier = checks.slice(0, index).map((each) => `!(${expressionOf(each)})`);
    return schema.rule([...earlier, expressionOf(check)].join(' || '), { message: check.message });
  }, s.string().minLength(1).maxLength(maxLength));
}

function expressionOf({ pattern, mustMatch, unless }: TextCheck): string {
  const matches = `${mustMatch ? '' : '!'}self.matches(r'${pattern}')`;
  return unless === undefined ? matches : `(${matches} || self.matches(r'${unless}'))`;
}
