/** Instructions under a name, that a model loads when it needs them. */
export interface Skill {
  /** What a model and a session's `disabledTools` name it by: `[a-z0-9_-]`. */
  readonly id: string;
  readonly name: string;
  /** When to use it. It is all a model knows before it loads the skill, and stands in every turn that offers it. */
  readonly description: string;
  /** How the work is done. Told to the model only when it asks. */
  readonly instructions: string;
  /** Ids of tools the instructions speak of: the turn may use them from then on. */
  readonly tools?: readonly string[];
}
