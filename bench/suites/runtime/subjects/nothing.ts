// Node itself: the floor under every other number of this kind.
import { report, untilReleased } from '../../../support/subject.ts';

report({});
await untilReleased();
