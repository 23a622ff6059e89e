"""The mutation matrix of TypeScript with JSX: TypeScript's own, and what markup adds."""

from __future__ import annotations

from tests.codeindex.matrix import typescript
from tests.codeindex.mutations import Matrix, Mutation

PATH = "shop/orders.tsx"
PAGE = """
interface Props {
  label: string;
  onPress?: () => void;
}

export function Button({ label, onPress }: Props) {
  const press = () => onPress?.();
  return (
    <button type="button" className='wide' onClick={press}>
      <b>{label}</b> is what this button says, in a line that is long
    </button>
  );
}

export const Input = forwardRef<HTMLInputElement, Props>(function Input({ label }, ref) {
  return <input ref={ref} title={label} />;
});
"""
SOURCE = typescript.SOURCE + PAGE

REFORMATTED = """
interface Props {
  label: string
  onPress?: () => void
}

export function Button({
  label,
  onPress,
}: Props) {
  const press = () => onPress?.()
  return (
    <button
      type="button"
      className="wide"
      onClick={press}
    >
      <b>{label}</b> is what this button says,
      in a line that is long
    </button>
  )
}

export const Input = forwardRef<
  HTMLInputElement,
  Props
>(function Input({ label }, ref) {
  return <input ref={ref} title={label} />
})
"""

_EMPTY = Matrix(PATH, SOURCE, {})
edit = _EMPTY.edit


def _as_tsx(mutation: Mutation) -> Mutation:
    files = {
        path.replace(".ts", ".tsx"): text + PAGE if text is not None and path == typescript.PATH else text
        for path, text in mutation.files.items()
    }
    return Mutation(files, {name: verdict.replace(".ts", ".tsx") for name, verdict in mutation.expect.items()})


MUTATIONS = {
    **{name: _as_tsx(mutation) for name, mutation in typescript.MUTATIONS.items()},
    "reformat_markup": Mutation(
        {PATH: typescript.REFORMATTED + REFORMATTED},
        {"Button": "fresh", "Button.press": "fresh", "Input": "fresh", "Input.Input": "fresh", "Props": "fresh"},
    ),
    "markup_text": edit("is what this", "is not what this", Button="drifted", Input="fresh"),
    "markup_attribute": edit("className='wide'", "className='slim'", Button="drifted", Button__press="fresh"),
    "markup_handler": edit("onClick={press}", "onFocus={press}", Button="drifted"),
    "markup_comment": edit("      <b>{label}</b>", "      {/* bold */}\n      <b>{label}</b>", Button="fresh"),
    "property_parameter": edit(
        "function Button({ label, onPress }: Props)", "function Button({ label }: Props)", Button="changed"
    ),
    "rename_component": edit(
        "export function Button(",
        "export function Knob(",
        Button=f"moved: renamed to Knob -> {PATH}::Knob",
        Button__press=f"moved -> {PATH}::Knob.press",
    ),
}

MATRIX = _EMPTY._replace(mutations=MUTATIONS)
