import { forwardRef, memo } from "react";

interface Props {
  label: string;
  onPress?: (id: number) => void;
}

export function Button({ label, onPress = () => {} }: Props) {
  const press = () => onPress(1);
  return (
    <button type="button" onClick={press}>
      {label} and more text
    </button>
  );
}

export const Input = forwardRef<HTMLInputElement, Props>(function Input(props, ref) {
  return <input ref={ref} {...props} />;
});

const generic = <T,>(x: T) => <Box<T> item={x} />;
export default memo(Button);
