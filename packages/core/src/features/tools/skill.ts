/** A skill: named instructions, which a model loads on demand. */
export interface Skill {
  /** The name for models and for a session's `disabledTools`: `[a-z0-9_-]`. */
  readonly id: string;
  /** For display. */
  readonly name: string;
  /** When to use it. The model sees only this before it loads the skill; it is part of every turn that offers the skill. */
  readonly description: string;
  /** The instructions. The model receives them only on demand. */
  readonly instructions: string;
  /** Ids of tools that the instructions use: loading the skill unlocks them. */
  readonly tools?: readonly string[];
  /**
   * Whether users can read the skill with its instructions, at `GET /api/skills`, so that a client can load it by itself.
   * Default false.
   */
  readonly listed?: boolean;
  /** For a listed skill: what a user may write after its name, e.g. `[file]`. */
  readonly argumentHint?: string;
  /** True: models are not offered the skill; only clients load it. Default false. */
  readonly disableModelInvocation?: boolean;
}
