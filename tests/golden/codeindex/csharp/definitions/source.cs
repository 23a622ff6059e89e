using System;

namespace Acme.Web
{
    /// <summary>Keeps orders.</summary>
    [Obsolete("x"), Serializable]
    public sealed class Store<T> : Base, IStore where T : class
    {
        public const int Max = 3, Min = 1;
        private static readonly int[] Sizes = { 1, 2 };
        private readonly int count = 1;

        public int Size => items.Count;

        public int Plain { get; set; } = 4;

        public int Guarded
        {
            get { return count; }
            private set { Check(value); }
        }

        public event EventHandler Changed;

        public event EventHandler Watched
        {
            add { Check(1); }
            remove { }
        }

        static Store()
        {
        }

        public Store(int count, string name = "x") : base(count)
        {
            this.count = count;
        }

        ~Store()
        {
        }

        // overloads
        [Test]
        public bool Put<K>(K key, ref int value, params int[] rest) where K : new()
        {
            int Local(int q)
            {
                return q;
            }
            return Local(value) > 0;
        }

        public int Put(int key) => 5;

        public int this[int i]
        {
            get => i;
        }

        public static Store<T> operator +(Store<T> a, Store<T> b) => a;

        public static implicit operator int(Store<T> a) => 1;

        void IStore.Explicit()
        {
        }

        private class Inner
        {
            void Deep()
            {
            }
        }

        public delegate int Callback(int x);

        private enum Color
        {
            Red,
            Blue = 2,
        }
    }

    public struct Point
    {
        public int X;
    }

    public record Line(int A, string B = "a")
    {
        public int Length() => 1;
    }

    public record struct Pair(int X);

    public interface IStore
    {
        int Plain { get; }

        void Explicit();
    }

#if DEBUG
    internal partial class Debugging
    {
    }
#endif
}
