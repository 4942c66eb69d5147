/** What a model of Anthropic takes, told by its name; unknown names are taken for the oldest kind, newer ones for the newest. */
export interface ModelFamily {
  /** Decides itself how much to think, guided by an effort. The others take a budget. */
  readonly adaptiveThinking: boolean;
  readonly effort: boolean;
  readonly temperature: boolean;
  /** Holds answers to a schema by itself. */
  readonly schemas: boolean;
  /** Refuses thoughts whose conversation has changed since, unless told to drop them. */
  readonly bindsThoughts: boolean;
}

/** @see https://platform.claude.com/docs/en/about-claude/models/overview */
export function familyOf(model: string): ModelFamily {
  const generation5 = /claude-[a-z]+-([5-9]|\d\d)(?!\d)/.test(model);
  const adaptiveThinking = generation5 || /claude-(opus|sonnet)-4-[678](?!\d)/.test(model);
  return {
    adaptiveThinking,
    effort: adaptiveThinking || /claude-opus-4-5(?!\d)/.test(model),
    temperature: !generation5 && !/claude-opus-4-[78](?!\d)/.test(model),
    schemas: adaptiveThinking || /claude-(opus-4-[15]|(sonnet|haiku)-4-5)(?!\d)/.test(model),
    bindsThoughts: /claude-((opus|sonnet)-5-5|fable-5-[12])(?!\d)/.test(model),
  };
}
